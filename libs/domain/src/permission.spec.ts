import { expect, test } from '@jest/globals';
import {
  type CallEffect,
  decidePermission,
  matchesPattern,
  PERMISSION_MODES,
  type PermissionFacts,
  type PermissionMode,
  type PermissionRule,
} from './permission.js';

const CALL: PermissionFacts = { tool: 'edit_file', effect: 'write', command: null, commands: null, path: 'src/a.ts' };
const decide = (facts: Partial<PermissionFacts>, rules: readonly PermissionRule[] = [], mode: PermissionMode = 'ask'): string =>
  decidePermission({ mode, rules }, { ...CALL, ...facts }).decision;
const run = (command: string, ...commands: string[]): Partial<PermissionFacts> => ({
  tool: 'run_command',
  effect: 'execute',
  command,
  commands: commands.length === 0 ? null : commands,
  path: null,
});

test('what no rule fits is decided by the mode and the effect of the call', () => {
  const effects: readonly CallEffect[] = ['read', 'agent', 'write', 'execute'];
  const table = PERMISSION_MODES.map((mode) => effects.map((effect) => decide({ effect }, [], mode)));
  expect(table).toEqual([
    ['allow', 'allow', 'ask', 'ask'],
    ['allow', 'allow', 'allow', 'ask'],
    ['allow', 'allow', 'deny', 'deny'],
    ['allow', 'allow', 'allow', 'allow'],
  ]);
});

test('what forbids wins over what asks, and that over what allows, whatever their order', () => {
  const [allow, ask, deny] = (['allow', 'ask', 'deny'] as const).map((decision): PermissionRule => ({ decision, tool: 'edit_*' }));
  if (!allow || !ask || !deny) throw new Error('three rules');
  expect(decide({}, [allow])).toBe('allow');
  expect(decide({}, [allow, ask])).toBe('ask');
  expect(decide({}, [deny, ask, allow])).toBe('deny');
  expect(decide({}, [ask], 'full_access')).toBe('ask');
});

test('a session that only plans changes nothing, whatever is allowed', () => {
  expect(decide({}, [{ decision: 'allow' }], 'plan')).toBe('deny');
});

test('a rule fits only a call that all of its fields fit', () => {
  const rule: PermissionRule = { decision: 'allow', tool: 'edit_file', effect: 'write', path: 'src/*' };
  expect(decide({}, [rule])).toBe('allow');
  for (const other of [{ tool: 'write_file' }, { path: 'test/a.ts' }, { path: null }, run('ls')]) expect(decide(other, [rule])).toBe('ask');
});

test('an allowed command is allowed as a whole; one forbidden part forbids it', () => {
  const allow: PermissionRule = { decision: 'allow', command: 'git *' };
  const deny: PermissionRule = { decision: 'deny', command: 'rm *' };
  expect(decide(run('git status', 'git status'), [allow])).toBe('allow');
  expect(decide(run('git status && make', 'git status', 'make'), [allow])).toBe('ask');
  expect(decide(run('git status $(x)'), [allow])).toBe('ask');
  expect(decide(run('git add . && rm -rf a', 'git add .', 'rm -rf a'), [allow, deny])).toBe('deny');
  expect(decide(run('sh -c "$(rm -rf a)"'), [deny])).toBe('deny');
});

test('a rule that forbids a program holds for its path, and for quotes around it', () => {
  const deny: PermissionRule = { decision: 'deny', command: 'git push*' };
  expect(decide(run('/usr/bin/git push', '/usr/bin/git push'), [deny], 'full_access')).toBe('deny');
  expect(decide(run('"git"  push'), [deny], 'full_access')).toBe('deny');
  expect(decide(run('/usr/bin/git pull', '/usr/bin/git pull'), [deny], 'full_access')).toBe('allow');
  expect(decide(run('/tmp/git push', '/tmp/git push'), [{ decision: 'allow', command: 'git push*' }])).toBe('ask');
});

test('of two names of a path one is enough to forbid, and both are needed to allow', () => {
  const facts = { path: 'docs/a.txt', realPath: 'secrets/a.txt' };
  for (const path of ['docs/*', 'secrets/*']) {
    expect(decide(facts, [{ decision: 'deny', path }], 'full_access')).toBe('deny');
    expect(decide(facts, [{ decision: 'allow', path }])).toBe('ask');
  }
  expect(decide(facts, [{ decision: 'allow', path: '*/a.txt' }])).toBe('allow');
});

test.each([
  ['secrets/*', '.', 'ask'],
  ['secrets/*', 'secrets', 'ask'],
  ['secrets/*', 'secrets/old', 'deny'],
  ['a/secrets/*', 'a', 'ask'],
  ['*.env', 'src', 'ask'],
  ['secrets/*', 'src', 'allow'],
  ['secrets', 'secrets-of-trade', 'allow'],
])('where %s is forbidden, a look at all below %s: %s', (path, folder, decision) => {
  const facts = { tool: 'search_files', effect: 'read', path: folder, looksBelow: true } as const;
  expect(decide(facts, [{ decision: 'deny', path }], 'full_access')).toBe(decision);
});

test.each([
  ['git *', 'git', true],
  ['git *', 'git status', true],
  ['git *', 'gitk', false],
  ['*.ts', 'a/b.ts', true],
  ['a.b', 'axb', false],
  ['npm run test*', 'npm run test:deep', true],
  ['*', 'any\nthing', true],
])('the pattern %s and %j: %s', (pattern, text, fits) => {
  expect(matchesPattern(pattern, text)).toBe(fits);
});
