import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { PermissionMode, PermissionRule } from '@echelon/domain';
import { LocalSessions } from '../../../test/support/local-sessions.js';
import type { ApprovalRequest } from './session-permissions.js';

type Call = readonly [tool: string, input: Readonly<Record<string, unknown>>];

let sessions: LocalSessions;
afterEach(() => sessions.close());

/** One response with these calls; whoever is asked says no. Returns what was asked about. */
async function ask(
  calls: readonly Call[],
  mode: PermissionMode,
  rules: readonly PermissionRule[] = [],
): Promise<readonly ApprovalRequest[]> {
  const toolCalls = calls.map(([name, input], index) => ({ name, arguments: input, id: `c${index + 1}` }));
  sessions = await LocalSessions.open([{ toolCalls }, { text: 'Done.' }]);
  for (const folder of ['.git', 'secrets']) mkdirSync(path.join(sessions.folder, folder));
  for (const file of ['.git/config', 'secrets/a.txt']) writeFileSync(path.join(sessions.folder, file), 'the secret');
  symlinkSync('secrets', path.join(sessions.folder, 'link'));
  const asked: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest) => {
    asked.push(request);
    return Promise.resolve({ decision: 'deny', reason: 'a person declined it' } as const);
  };
  await sessions.create({ mode, rules }).prompt([{ type: 'text', text: 'Work.' }], sessions.surface({ approve }));
  return asked;
}

const answers = (): string => JSON.stringify(sessions.requests().at(-1));

test('where edits are accepted, what git would run is asked about: files of a repository, and git itself', async () => {
  const write = { content: 'x' };
  const asked = await ask(
    [
      ['write_file', { path: '.git/hooks/pre-commit', ...write }],
      ['write_file', { path: './sub/.git', ...write }],
      ['write_file', { path: '.gitignore', ...write }],
      ['run_command', { command: 'git status' }],
      ['run_command', { command: 'git diff | head' }],
    ],
    'accept_edits',
  );
  expect(asked.map(({ grant, effect }) => [grant, effect])).toEqual([
    ['write_file: .git/hooks/pre-commit', 'execute'],
    ['write_file: sub/.git', 'execute'],
    ['run_command: git status', 'execute'],
    ['run_command: git diff | head', 'execute'],
  ]);
  expect(['.git/hooks', 'sub', '.gitignore'].map((file) => existsSync(path.join(sessions.folder, file)))).toEqual([false, false, true]);
});

test('a path that is forbidden is so however it is spelled, and a look from above is asked about', async () => {
  const rules: readonly PermissionRule[] = [{ decision: 'deny', path: 'secrets/*' }];
  const asked = await ask(
    [
      ['read_file', { path: 'secrets/a.txt' }],
      ['read_file', { path: './secrets//a.txt' }],
      ['read_file', { path: 'link/a.txt' }],
      ['search_files', { pattern: 'secret' }],
      ['search_files', { pattern: 'secret', path: 'link' }],
      ['list_files', { path: 'secrets/' }],
      ['list_files', { path: '.git' }],
    ],
    'full_access',
    rules,
  );
  expect(asked.map(({ callId }) => callId)).toEqual(['c4', 'c5', 'c6']);
  expect(answers()).not.toContain('the secret');
});

test.each(['"rm" -rf secrets', 'FOO=1 rm -rf secrets', '! rm -rf secrets', '/bin/rm -rf secrets', 'if true; then rm -rf secrets; fi'])(
  'a program that is forbidden is so in %j',
  async (command) => {
    await ask([['run_command', { command }]], 'full_access', [{ decision: 'deny', command: 'rm *' }]);
    expect(answers()).toContain('a rule of this session forbids it');
    expect(readFileSync(path.join(sessions.folder, 'secrets/a.txt'), 'utf8')).toBe('the secret');
  },
);
