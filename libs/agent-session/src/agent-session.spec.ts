import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from '@jest/globals';
import type { TextPart } from '@echelon/agent-loop';
import type { AgentScript } from '@echelon/scripted-model';
import { startScript } from '@echelon/testkit';
import { LocalSessions } from '../../../test/support/local-sessions.js';
import { AgentSession } from './agent-session.js';
import type { ApprovalRequest } from './session-permissions.js';
import { restoreState } from './session-state.js';

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
