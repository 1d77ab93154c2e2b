import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@echelon/persistence';
import { createPlatform, type Platform, readConfig } from '@echelon/platform';
import { type AgentScript, scriptByAgent, type ScriptedRequest, type ScriptedToolCall, startScriptedModel } from '@echelon/scripted-model';
import { createTestDatabase, waitFor } from '@echelon/testkit';
import { findViolations } from '../../../test/support/invariants.js';

const operator = { kind: 'operator', tokenId: newId(), operatorId: newId(), name: 'Ada' } as const;

const delegate = (agent: string, id: string): ScriptedToolCall => ({
  name: 'run_subagent',
  arguments: { description: `be ${agent}`, prompt: `[${agent}] Do your part.` },
  id,
});
const create = (title: string): ScriptedToolCall => ({
  name: 'create_task_kandev',
  arguments: { title, prompt: '[idle] Wait.', start_agent: false },
  id: 'create',
});
const usage = { inputTokens: 100, outputTokens: 10 };
const held = Promise.withResolvers<void>();

const AGENTS: Readonly<Record<string, AgentScript>> = {
  '[reader]': [
    { toolCalls: [delegate('left', 'call-1'), delegate('right', 'call-2')], usage },
    { text: 'Both are read.', usage },
  ],
  '[left]': [
    { toolCalls: [{ name: 'write_file', arguments: { path: 'left.txt', content: 'left' }, id: 'call-1' }], usage },
    { text: 'The left.', usage },
  ],
  '[right]': [
    { toolCalls: [delegate('below', 'call-1')], usage },
    { text: 'The right.', usage },
  ],
  '[below]': [{ text: 'Far below.', usage }],
  '[tempted]': [{ toolCalls: [delegate('rebel', 'call-1')] }, { text: 'Done.' }],
  '[rebel]': [
    {
      toolCalls: [
        { name: 'ask_parent_question_kandev', arguments: { questions: [{ prompt: 'May I?' }] } },
        { name: 'ask_user_question_kandev', arguments: { questions: [{ prompt: 'May I?' }] } },
        { name: 'step_complete_kandev', arguments: { summary: 'Done.' } },
      ],
    },
    { text: 'I could not ask.' },
  ],
  '[founder]': [{ toolCalls: [create('By the agent'), delegate('deputy', 'call-1')] }, { text: 'Founded.' }],
  '[deputy]': [{ toolCalls: [create('By its subagent')] }, { text: 'Founded, too.' }],
  '[spender]': [
    { toolCalls: [delegate('wasteful', 'call-1')], usage },
    { text: 'Never sent.', usage },
  ],
  '[wasteful]': [
    { toolCalls: [{ name: 'list_files', arguments: {}, id: 'call-1' }], usage },
    { toolCalls: [{ name: 'list_files', arguments: { path: '.' }, id: 'call-2' }], usage },
    { text: 'Never sent.', usage },
  ],
  '[stopped]': [{ toolCalls: [delegate('slow', 'call-1')] }, { text: 'Never sent.' }],
  '[slow]': [
    { text: 'I look first.', toolCalls: [{ name: 'list_files', arguments: {} }] },
    { text: ['I think', ' for long.'], faults: [{ kind: 'hold', afterChunks: 1, until: held.promise }] },
  ],
};

let platform: Platform;
const asked: ScriptedRequest[] = [];
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  const storage = await createTestDatabase();
  closing.push(() => storage.drop());
  const folder = mkdtempSync(`${tmpdir()}/echelon-subagents-`);
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const script = scriptByAgent(AGENTS);
  const model = await startScriptedModel({
    script: (request) => {
      asked.push(request);
      return script(request);
    },
  });
  closing.push(() => model.close());
  const settings = { DATABASE_URL: storage.url, ECHELON_DATA_DIR: folder, ECHELON_SCRIPTED_MODEL_URL: model.url };
  platform = await createPlatform(readConfig({ ...settings, ECHELON_LOG_LEVEL: 'silent' }), { worker: true });
  closing.push(() => platform.close());
}, 30_000);
afterAll(async () => {
  held.resolve();
  for (const close of closing.toReversed()) await close();
});

function accepted<T extends object>(outcome: T): Extract<T, { readonly id: string }> {
  if (!('id' in outcome)) throw new Error(JSON.stringify(outcome));
  return outcome as Extract<T, { readonly id: string }>;
}

interface Place {
  readonly workspaceId: string;
  readonly profileId: string;
}

async function createPlace(budgets: { readonly max_tokens?: number } = {}): Promise<Place> {
  const { services } = platform;
  const { id: workspace_id } = accepted(await services.workspaces.create(operator, { name: newId() }));
  const profile = await services.profiles.create(operator, {
    ...{ workspace_id, name: 'agent', runtime: 'loop', provider: 'scripted', model: 'scripted', system_prompt: '' },
    ...{ budgets, fallback_models: [], max_output_tokens: null, context_window: null, hooks: {} },
    ...{ parent_question_timeout_seconds: null, user_question_timeout_seconds: null },
  });
  return { workspaceId: workspace_id, profileId: accepted(profile).id };
}

interface Options {
  readonly autopilot?: boolean;
  readonly parentId?: string;
  readonly start?: boolean;
}

async function start(place: Place, agent: string, { autopilot = false, parentId, start = true }: Options = {}) {
  const where = parentId === undefined ? { workspace_id: place.workspaceId } : { parent_id: parentId };
  const about = { profile_id: place.profileId, prompt: `[${agent}] Begin.`, autopilot, blocked_by: [], start_agent: start };
  const task = accepted(await platform.services.tasks.create(operator, { ...where, ...about }, null));
  return { taskId: task.id, sessionId: task.primary_session_id ?? '' };
}

function rows<Row extends object>(sql: string, sessionId: string): Promise<readonly Row[]> {
  return platform.database.query<Row>(sql, [sessionId]);
}

interface Turn {
  readonly id: string;
  readonly outcome: string;
  readonly input_tokens: number;
  readonly rounds: number;
}

function firstTurn(sessionId: string): Promise<Turn> {
  return waitFor('the turn is over', async () => {
    const [turn] = await rows<Turn>(`SELECT * FROM turn WHERE session_id = $1 AND status = 'finished' ORDER BY number`, sessionId);
    return turn ?? null;
  });
}

const requestsOf = (agent: string) => asked.filter(({ messages }) => messages[0]?.text.includes(`[${agent}]`));
const resultsIn = (request: ScriptedRequest | undefined) =>
  request?.messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)) ?? [];

describe('the subagents of a worker’s turn', () => {
  let sessionId: string;
  let turn: Turn;

  beforeAll(async () => {
    ({ sessionId } = await start(await createPlace(), 'reader'));
    turn = await firstTurn(sessionId);
  });

  test('run with histories of their own, and hand back one result each in the order of the calls', () => {
    expect(turn.outcome).toBe('completed');
    expect(resultsIn(requestsOf('reader')[1])).toEqual(['The left.', 'The right.']);
    expect(JSON.stringify(requestsOf('reader').map(({ messages }) => messages))).not.toMatch(/write_file|Far below/);
    expect(requestsOf('left').map(({ messages }) => messages.length)).toEqual([1, 3]);
  });

  test('leave their rows in its session, in a thread that bears the id of the call, unique by thread and call [G7.13]', async () => {
    const threads = await rows(
      `SELECT c.call_id, c.name, c.state, p.call_id AS started_by, g.call_id AS above FROM tool_call c LEFT JOIN tool_call p ON p.id = c.thread_id
         LEFT JOIN tool_call g ON g.id = p.thread_id WHERE c.session_id = $1 ORDER BY p.call_id NULLS FIRST, c.call_id`,
      sessionId,
    );
    const call = { name: 'run_subagent', state: 'done', started_by: null, above: null };
    expect(threads).toEqual([
      { ...call, call_id: 'call-1' },
      { ...call, call_id: 'call-2' },
      { ...call, call_id: 'call-1', name: 'write_file', started_by: 'call-1' },
      { ...call, call_id: 'call-1', started_by: 'call-2' },
    ]);
    expect(
      await rows(
        `SELECT count(*)::int AS requests, count(DISTINCT thread_id)::int AS threads FROM model_request WHERE session_id = $1 AND state = 'sealed'`,
        sessionId,
      ),
    ).toEqual([{ requests: 7, threads: 3 }]);
  });

  test('count with their tokens, not with their rounds', () => {
    expect(turn).toMatchObject({ input_tokens: 700, rounds: 2 });
  });

  test('are shown by thread, and nowhere in the conversation of the session', async () => {
    const own = await platform.services.sessions.listMessages(operator, { sessionId, limit: 50 });
    const types = (page: typeof own) => ('items' in page ? page.items.map(({ type, thread_id }) => [type, thread_id]) : page);
    expect(types(own)).toEqual(['prompt', 'response', 'tool_result', 'tool_result', 'response'].map((type) => [type, null]));
    const [left] = await rows<{ id: string }>(
      `SELECT id FROM tool_call WHERE session_id = $1 AND call_id = 'call-1' AND thread_id IS NULL`,
      sessionId,
    );
    const thread = await platform.services.sessions.listMessages(operator, { sessionId, limit: 50, threadId: left!.id });
    expect(types(thread)).toEqual(['prompt', 'response', 'tool_result', 'response'].map((type) => [type, left!.id]));
  });

  test('go two levels deep: the last is not offered another', () => {
    expect(requestsOf('right')[0]?.tools).toContain('run_subagent');
    expect(requestsOf('below')[0]?.tools).toContain('write_file');
    expect(requestsOf('below')[0]?.tools).not.toContain('run_subagent');
  });

  test('offend no invariant', async () => {
    expect(await findViolations(platform.database)).toEqual({});
  });
});

describe('what a subagent may not do', () => {
  test.each([
    ['a normal task', false, false],
    ['an autopilot child', true, true],
    ['an autopilot root', true, false],
  ])('of %s: ask anybody, or signal completion, not even by a guessed name [D9]', async (_title, autopilot, hasParent) => {
    asked.length = 0;
    const place = await createPlace();
    const parent = hasParent ? { parentId: (await start(place, 'idle', { start: false })).taskId } : {};
    const { taskId, sessionId } = await start(place, 'tempted', { autopilot, ...parent });
    expect((await firstTurn(sessionId)).outcome).toBe('completed');
    const [first, second] = requestsOf('rebel');
    expect(first?.tools.filter((name) => name.startsWith('ask_') || name === 'step_complete_kandev')).toEqual([]);
    expect(first?.system).not.toMatch(/ask_\w+_kandev|step_complete_kandev/);
    expect(resultsIn(second)).toHaveLength(3);
    for (const text of resultsIn(second)) expect(text).toMatch(/^Unknown tool/);
    expect(await rows(`SELECT id FROM message WHERE session_id = $1 AND type IN ('parent_question', 'user_question')`, sessionId)).toEqual(
      [],
    );
    expect(await rows('SELECT state FROM task WHERE id = $1', taskId)).toEqual([{ state: 'review' }]);
  });
});

test('a subagent’s call and its agent’s call of the same id are two calls: each creates its task [K16]', async () => {
  const { taskId, sessionId } = await start(await createPlace(), 'founder');
  await firstTurn(sessionId);
  const created = await rows<{ title: string }>('SELECT title FROM task WHERE parent_id = $1 ORDER BY title', taskId);
  expect(created.map(({ title }) => title)).toEqual(['By its subagent', 'By the agent']);
  expect(await findViolations(platform.database)).toEqual({});
});

test('what a subagent spends counts towards the token budget of its agent’s profile [G3.6]', async () => {
  const { sessionId } = await start(await createPlace({ max_tokens: 330 }), 'spender');
  expect(await firstTurn(sessionId)).toMatchObject({ outcome: 'budget_exhausted', input_tokens: 300 });
  expect(requestsOf('wasteful')).toHaveLength(2);
  const [call] = await rows<{ result: string }>(`SELECT result FROM tool_call WHERE session_id = $1 AND name = 'run_subagent'`, sessionId);
  expect(call?.result).toMatch(
    /^The subagent did not complete: the budget of tokens is spent\.\nIt got through 2 model rounds and 2 tool calls/,
  );
});

test('a stop reaches a subagent at work: its partial text is kept in its thread, its call says how far it got [G7.13, T1, T2]', async () => {
  const { sessionId } = await start(await createPlace(), 'stopped');
  const [turn] = await waitFor('the subagent is at work', async () => {
    const open = await rows<{ id: string }>('SELECT id FROM turn WHERE session_id = $1', sessionId);
    return requestsOf('slow').length === 2 ? open : null;
  });
  await platform.services.turns.stop(operator, turn!.id);
  expect((await firstTurn(sessionId)).outcome).toBe('stopped');
  const calls = await rows<{ name: string; state: string; result: string }>(
    `SELECT name, state, result FROM tool_call WHERE session_id = $1 ORDER BY thread_id NULLS FIRST`,
    sessionId,
  );
  expect(calls.map(({ name, state }) => [name, state])).toEqual([
    ['run_subagent', 'unknown'],
    ['list_files', 'done'],
  ]);
  expect(calls[0]?.result).toMatch(/^Cancelled while it was running\.\nThe subagent did not complete: it was cancelled\./);
  const partial = `SELECT content::jsonb->'parts'->0->>'text' AS text FROM message WHERE session_id = $1 AND thread_id IS NOT NULL AND metadata->>'complete' = 'false'`;
  expect(await rows(partial, sessionId)).toEqual([{ text: 'I think' }]);
  expect(await rows(`SELECT state FROM model_request WHERE session_id = $1 AND state = 'prepared'`, sessionId)).toEqual([]);
  expect(await findViolations(platform.database)).toEqual({});
});
