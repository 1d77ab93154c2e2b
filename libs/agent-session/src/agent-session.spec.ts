import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from '@jest/globals';
import type { TextPart } from '@echelon/agent-loop';
import type { HooksConfig } from '@echelon/contracts';
import type { AgentScript } from '@echelon/scripted-model';
import { startScript, waitFor } from '@echelon/testkit';
import { LocalSessions } from '../../../test/support/local-sessions.js';
import { AgentSession } from './agent-session.js';
import type { ApprovalRequest } from './session-permissions.js';
import { findAnswer, restoreState } from './session-state.js';

let sessions: LocalSessions;
const open = async (script: AgentScript): Promise<LocalSessions> => (sessions = await LocalSessions.open(script));
afterEach(() => sessions.close());

const text = (words: string): readonly TextPart[] => [{ type: 'text', text: words }];
const write = (name: string, id: string) => ({ name: 'write_file', arguments: { path: name, content: name }, id });

test('a prompt runs its tools in the folder, and what is stored adds up to what the next prompt sends [G8.39]', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1')] }, { text: 'Written.' }, { text: 'Again.' }]);
  const session = sessions.create();
  expect((await session.prompt(text('Write a.txt.'), sessions.surface())).stop).toEqual({ reason: 'completed' });
  expect(readFileSync(path.join(sessions.folder, 'a.txt'), 'utf8')).toBe('a.txt');
  expect(restoreState(sessions.store.read(session.id)).history).toEqual(session.history);
  session.close();

  const reopened = await AgentSession.open(sessions.store, session.id, sessions.settings());
  await reopened.prompt(text('And now?'), sessions.surface());
  const [, second = [], third] = sessions.requests();
  expect(third).toEqual([...second, { role: 'assistant', content: 'Written.' }, { role: 'user', content: 'And now?' }]);
  expect(sessions.store.findLatest(sessions.folder)).toMatchObject({ id: session.id, title: 'Write a.txt.' });
});

test('what the mode leaves open is asked, "always" holds for the session and the next process, a denial is told', async () => {
  await open([
    { toolCalls: [write('a.txt', 'c1')] },
    { toolCalls: [write('b.txt', 'c2'), { name: 'run_command', arguments: { command: 'make' }, id: 'c3' }] },
    { text: 'Done.' },
    { toolCalls: [write('c.txt', 'c4')] },
    { text: 'Done.' },
  ]);
  const asked: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest) => {
    asked.push(request);
    return Promise.resolve(
      request.tool === 'write_file' ? ({ decision: 'allow', always: true } as const) : ({ decision: 'deny', reason: 'not now' } as const),
    );
  };
  const session = sessions.create({ mode: 'ask' });
  await session.prompt(text('Write.'), sessions.surface({ approve }));
  session.close();
  const reopened = await AgentSession.open(sessions.store, session.id, sessions.settings({ mode: 'ask' }));
  await reopened.prompt(text('Write once more.'), sessions.surface({ approve }));
  expect(asked.map(({ grant, effect }) => [grant, effect])).toEqual([
    ['write_file', 'write'],
    ['run_command: make', 'execute'],
  ]);
  expect(['a.txt', 'b.txt', 'c.txt'].map((file) => existsSync(path.join(sessions.folder, file)))).toEqual([true, true, true]);
  expect(JSON.stringify(sessions.requests().at(-1))).toContain('not now');
});

test('where nobody is there to approve, the call is denied and the model is told why', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1')] }, { text: 'Then not.' }]);
  await sessions.create({ mode: 'ask' }).prompt(text('Write.'), sessions.surface());
  expect(existsSync(path.join(sessions.folder, 'a.txt'))).toBe(false);
  expect(JSON.stringify(sessions.requests()[1])).toContain('it needs the approval of a person, and none is there');
});

test('a session that only plans reads and changes nothing; its mode is kept', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1')] }, { toolCalls: [{ name: 'list_files', arguments: {} }] }, { text: 'The plan.' }]);
  const session = sessions.create();
  session.setMode('plan');
  await session.prompt(text('Plan.'), sessions.surface());
  expect(existsSync(path.join(sessions.folder, 'a.txt'))).toBe(false);
  session.close();
  expect((await AgentSession.open(sessions.store, session.id, sessions.settings())).mode).toBe('plan');
});

test('a session is open in one process at a time, and runs one turn at a time', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await open([{ text: 'slow', faults: [{ kind: 'hold', until: held }] }]);
  const session = sessions.create();
  await expect(AgentSession.open(sessions.store, session.id, sessions.settings())).rejects.toMatchObject({ code: 'session_in_use' });
  const running = session.prompt(text('One.'), sessions.surface());
  await expect(session.prompt(text('Two.'), sessions.surface())).rejects.toMatchObject({ code: 'session_busy' });
  release();
  await running;
  await expect(AgentSession.open(sessions.store, 'none', sessions.settings())).rejects.toMatchObject({ code: 'session_not_found' });
});

test('a session stays closed to other processes when this one is refused it once more', async () => {
  await open([]);
  const { id } = sessions.create();
  await expect(AgentSession.open(sessions.store, id, sessions.settings())).rejects.toMatchObject({ code: 'session_in_use' });
  const other = startScript(`
    import { SessionStore } from '@echelon/agent-session';
    SessionStore.open(${JSON.stringify(sessions.data)}).lock(${JSON.stringify(id)});
  `);
  expect(await other.exited).toMatchObject({ code: 1 });
  expect(other.output()).toContain('session_in_use');
});

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

test('what is said while a tool runs joins the results, once; what comes too late waits for a turn of its own [G8.33]', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1')] }, { text: 'Both.' }]);
  const session = sessions.create();
  const onEvent: NonNullable<Parameters<typeof session.prompt>[1]['onEvent']> = (event) => {
    if (event.type === 'tool_started') session.inbox.add('input', 'Use b.txt as well.');
    if (event.type === 'content') session.inbox.add('input', 'Too late.');
  };
  await session.prompt(text('Write.'), sessions.surface({ onEvent }));
  expect(sessions.requests()[1]?.slice(-2)).toEqual([
    expect.objectContaining({ role: 'tool' }),
    { role: 'user', content: 'Use b.txt as well.' },
  ]);
  expect(sessions.requests()).toHaveLength(2);
  expect(session.inbox.takeNext()).toBe('Too late.');
});

test('a Lead that comes with the last response keeps the turn going', async () => {
  await open([{ text: 'Done.' }, { text: 'Now with b.' }]);
  const session = sessions.create();
  let led = false;
  const onEvent = (event: { readonly type: string }): void => {
    if (event.type !== 'content' || led) return;
    led = true;
    session.inbox.add('lead', 'Take b.');
  };
  const { stop, rounds } = await session.prompt(text('Go.'), sessions.surface({ onEvent }));
  expect([stop.reason, rounds]).toEqual(['completed', 2]);
  expect(sessions.requests()[1]?.at(-1)).toEqual({ role: 'user', content: 'Take b.' });
});

test('a failed turn is tried again: its history is sent as it was', async () => {
  let broken = true;
  await open(() => (broken ? { faults: [{ kind: 'status', status: 400 }] } : { text: 'Now.' }));
  const session = sessions.create();
  await expect(session.retry(sessions.surface())).rejects.toMatchObject({ code: 'nothing_to_retry' });
  expect((await session.prompt(text('Go.'), sessions.surface())).stop.reason).toBe('error');
  broken = false;
  expect((await session.retry(sessions.surface())).stop).toEqual({ reason: 'completed' });
  expect(sessions.requests()[1]).toEqual(sessions.requests()[0]);
});

test('an unfinished list of steps keeps a prompt going twice, and then no more [G8.43]', async () => {
  const todos = [{ content: 'Write it.', status: 'pending' }];
  await open([{ toolCalls: [{ name: 'update_todos', arguments: { todos } }] }, { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
  const session = sessions.create();
  const { stop, rounds } = await session.prompt(text('Go.'), sessions.surface({ keepsToTodos: true }));
  expect([stop.reason, rounds]).toEqual(['completed', 4]);
  expect(session.todos).toEqual(todos);
});

test('a turn cap counts over the prompts of a session, and anew in a process where it shall', async () => {
  await open(() => ({ text: 'Yes.' }));
  const session = sessions.create();
  const limits = { turnCap: 1 };
  expect((await session.prompt(text('One.'), sessions.surface({ limits }))).stop.reason).toBe('completed');
  expect((await session.prompt(text('Two.'), sessions.surface({ limits }))).stop.reason).toBe('turn_cap');
  session.close();
  const reopened = await AgentSession.open(sessions.store, session.id, sessions.settings({ limitsCount: 'process' }));
  expect((await reopened.prompt(text('Three.'), sessions.surface({ limits }))).stop.reason).toBe('completed');
});

test('a prompt that a hook blocks is in no later request [G8.41]', async () => {
  await open(() => ({ text: 'Yes.' }));
  const hooks = { prompt_submit: [{ command: 'grep -q secret && { echo It holds a secret. >&2; exit 2; } || exit 0' }] };
  const session = sessions.create({ hooks });
  expect((await session.prompt(text('A secret.'), sessions.surface())).stop.reason).toBe('prompt_blocked');
  expect(sessions.store.get(session.id).title).toBe('');
  expect((await session.prompt(text('Hello.'), sessions.surface())).stop.reason).toBe('completed');
  expect(sessions.requests()).toEqual([[{ role: 'user', content: 'Hello.' }]]);
  expect(sessions.store.get(session.id).title).toBe('Hello.');
});

test('a store that cannot be written stops the turn before anything runs', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1')] }]);
  const session = sessions.create();
  const onEvent = (event: { readonly type: string }): void => {
    if (event.type === 'tool_call') new DatabaseSync(path.join(sessions.data, 'sessions.sqlite')).exec('DROP TABLE record');
  };
  expect((await session.prompt(text('Write.'), sessions.surface({ onEvent }))).stop).toMatchObject({
    reason: 'error',
    kind: 'persistence',
  });
  expect(existsSync(path.join(sessions.folder, 'a.txt'))).toBe(false);
});
