import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { TextPart } from '@echelon/agent-loop';
import type { HooksConfig } from '@echelon/contracts';
import type { AgentScript } from '@echelon/scripted-model';
import { startScript, waitFor } from '@echelon/testkit';
import { LocalSessions } from '../../../test/support/local-sessions.js';
import { AgentSession } from './agent-session.js';
import { findAnswer, restoreState } from './session-state.js';

let sessions: LocalSessions;
const open = async (script: AgentScript): Promise<LocalSessions> => (sessions = await LocalSessions.open(script));
afterEach(() => sessions.close());

const text = (words: string): readonly TextPart[] => [{ type: 'text', text: words }];
const write = (name: string, id: string) => ({ name: 'write_file', arguments: { path: name, content: name }, id });

/** Runs one prompt in a process of its own, which is killed in the middle of its second call. */
function dieInSecondCall(): Promise<string> {
  return dieWhen((program) => program.line(/^output started/));
}

async function dieWhen(reached: (program: ReturnType<typeof startScript>) => Promise<unknown>, hooks: HooksConfig = {}): Promise<string> {
  const program = startScript(`
    import { AgentSession, SessionStore } from '@echelon/agent-session';
    import { createModelClient } from '@echelon/model-clients';
    const client = createModelClient({ dialect: 'chat_completions', baseUrl: ${JSON.stringify(sessions.model.url)} });
    const session = AgentSession.create(SessionStore.open(${JSON.stringify(sessions.data)}), ${JSON.stringify(sessions.folder)}, {
      models: [{ client, model: 'scripted' }], rules: [], mode: 'full_access', hooks: ${JSON.stringify(hooks)} });
    console.log(session.id);
    await session.prompt([{ type: 'text', text: 'Work.' }], { signal: new AbortController().signal,
      onEvent: (event) => event.type === 'tool_output' && console.log('output ' + event.chunk.trim()) });
  `);
  const id = await program.line(/^[\da-f-]{36}$/);
  await reached(program);
  await program.kill();
  return id;
}

const DYING: AgentScript = [
  {
    toolCalls: [
      write('a.txt', 'c1'),
      { name: 'run_command', arguments: { command: 'echo started; echo x >> ran; sleep 600' }, id: 'c2' },
      write('b.txt', 'c3'),
    ],
  },
  { text: 'Inspected.' },
];

test('a turn whose process was killed goes on: known results stay, what had started is unknown, the rest runs', async () => {
  await open(DYING);
  const session = await AgentSession.open(sessions.store, await dieInSecondCall(), sessions.settings());
  expect(session.isInterrupted).toBe(true);
  expect((await session.resume(sessions.surface())).stop).toEqual({ reason: 'completed' });
  const results = session.history[2]?.parts.map((part) => (part.type === 'tool_result' ? [part.call_id, part.is_error] : []));
  expect(results).toEqual([
    ['c1', false],
    ['c2', true],
    ['c3', false],
  ]);
  expect(readFileSync(path.join(sessions.folder, 'ran'), 'utf8')).toBe('x\n');
  await expect(session.resume(sessions.surface())).rejects.toMatchObject({ code: 'nothing_to_resume' });
});

test('a prompt after a killed process closes its turn: nothing of it runs, and every call is answered', async () => {
  await open(DYING);
  const session = await AgentSession.open(sessions.store, await dieInSecondCall(), sessions.settings());
  await session.prompt(text('Something else.'), sessions.surface());
  expect(existsSync(path.join(sessions.folder, 'b.txt'))).toBe(false);
  const answers = session.history[2]?.parts.map((part) => (part.type === 'tool_result' ? part.text : ''));
  expect(answers).toEqual([
    expect.stringContaining('a.txt'),
    expect.stringContaining('is unknown'),
    'Not executed: the run was interrupted before this call started.',
  ]);
  expect(session.history[3]).toEqual({ role: 'user', parts: text('Something else.') });
});

test.each([
  ['lets it end', 1, [{ role: 'user', content: 'Work.' }]],
  [
    'blocks',
    2,
    [
      { role: 'user', content: 'Work.' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'Check.' },
    ],
  ],
])('a turn killed in its stop hook asks the hook again about the stored answer, which %s [G7.9]', async (_title, lets, sent) => {
  await open([{ text: 'Done.' }, { text: 'Checked.' }]);
  const count = `echo x >> asked; until test -f go; do sleep 0.05; done`;
  const hooks = { stop: [{ command: `${count}; test $(wc -l < asked) -gt ${lets} || { echo Check. >&2; exit 2; }` }] };
  const asked = path.join(sessions.folder, 'asked');
  const id = await dieWhen(() => waitFor('the hook runs', () => existsSync(asked)), hooks);
  writeFileSync(path.join(sessions.folder, 'go'), '');
  const session = await AgentSession.open(sessions.store, id, sessions.settings({ hooks }));
  const { stop, lastResponse } = await session.resume(sessions.surface());
  expect([stop.reason, lastResponse?.text]).toEqual(['completed', lets === 1 ? 'Done.' : 'Checked.']);
  expect(readFileSync(asked, 'utf8')).toBe('x\n'.repeat(lets + 1));
  expect(sessions.requests()).toHaveLength(lets);
  expect(sessions.requests().at(-1)).toEqual(sent);
});

test('the answer of an earlier turn is none of a turn that was killed before its first request', async () => {
  await open([{ text: 'Done.' }]);
  const session = sessions.create();
  await session.prompt(text('Work.'), sessions.surface());
  const records = sessions.store.read(session.id);
  const withoutEnd = records.filter(({ type }) => type !== 'turn_end');
  expect(findAnswer(restoreState(withoutEnd))).toEqual({ model: 'scripted', reason: 'stop' });
  const next = { type: 'turn', number: 2, prompt_id: 'p2', send_type: 'user' } as const;
  expect(findAnswer(restoreState([...records, next]))).toBeUndefined();
});

test('a prompt whose process was killed before its first request is sent when its turn goes on', async () => {
  await open([{ text: 'Here.' }]);
  const hooks = { prompt_submit: [{ command: 'touch asked; sleep 600' }] };
  const id = await dieWhen(() => waitFor('the hook runs', () => existsSync(path.join(sessions.folder, 'asked'))), hooks);
  const session = await AgentSession.open(sessions.store, id, sessions.settings());
  expect((await session.resume(sessions.surface())).stop).toEqual({ reason: 'completed' });
  expect(sessions.requests()).toEqual([[{ role: 'user', content: 'Work.' }]]);
});
