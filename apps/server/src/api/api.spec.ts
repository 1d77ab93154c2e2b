import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiError, createApiClient } from '@echelon/api-client';
import { isRefusal } from '@echelon/domain';
import type { AgentActor } from '@echelon/orchestration';
import { type RunningServer, startServer, type TestAgent } from '../../../../test/support/running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const client = () => server.client;

/** The problem that a call is refused with. */
async function refusal(call: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

async function place() {
  const workspace = await client().workspaces.create({ name: randomUUID() });
  const profile = await client().profiles.create({ workspace_id: workspace.id, name: 'default', provider: 'scripted', model: 'any' });
  return { workspace_id: workspace.id, profile_id: profile.id };
}

async function actorOf(agent: TestAgent): Promise<AgentActor> {
  const caller = await server.services.tokens.authenticate(agent.token);
  if (caller?.actor.kind !== 'agent') throw new Error('the token is no session’s');
  return caller.actor;
}

test('every time in an answer is RFC 3339, UTC, with milliseconds [O40]', async () => {
  const agent = await server.agent();
  const answers = [await client().tasks.get(agent.taskId), await client().workspaces.list(), await client().tokens.list()];
  const times = [...JSON.stringify(answers).matchAll(/"\w+_at":"([^"]*)"/g)].map(([, time]) => time);
  expect(times.length).toBeGreaterThan(3);
  for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

describe('workspaces, profiles and tokens', () => {
  test('a workspace is created, read and listed', async () => {
    const created = await client().workspaces.create({ name: randomUUID() });
    expect(await client().workspaces.get(created.id)).toEqual(created);
    expect((await client().workspaces.list({ limit: 200 })).items).toContainEqual(created);
  });

  test('a taken name is a conflict', async () => {
    const name = randomUUID();
    await client().workspaces.create({ name });
    expect(await refusal(client().workspaces.create({ name }))).toMatchObject({ code: 'CONFLICT', problem: { status: 409 } });
  });

  test('a profile is created with its defaults, changed and archived', async () => {
    const { workspace_id, profile_id } = await place();
    expect(await client().profiles.get(profile_id)).toMatchObject({ runtime: 'loop', budgets: {}, archived_at: null });
    expect(await client().profiles.update(profile_id, { model: 'other' })).toMatchObject({ model: 'other' });
    expect((await client().profiles.list({ workspace_id })).items).toHaveLength(1);
    expect((await client().profiles.archive(profile_id)).archived_at).not.toBeNull();
  });

  test('a token is shown with its secret once, and listed without it', async () => {
    const issued = await client().tokens.issue({ kind: 'operator', label: 'laptop' });
    const { items } = await client().tokens.list({ limit: 200 });
    expect(items).toContainEqual(expect.objectContaining({ id: issued.id, label: 'laptop' }));
    expect(JSON.stringify(items)).not.toMatch(issued.secret);
  });

  test('pages follow their cursor to the end, without an item twice', async () => {
    const { workspace_id, profile_id } = await place();
    for (let n = 0; n < 5; n += 1) await client().tasks.create({ workspace_id, profile_id, prompt: `task ${n}`, start_agent: false });
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await client().tasks.list({ workspace_id, limit: 2, ...(cursor ? { cursor } : {}) });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(new Set(seen).size).toBe(5);
    expect(seen).toHaveLength(5);
  });
});

describe('the plan of a task', () => {
  test('is put, read and deleted; a key repeats, and a revision that has passed is a conflict', async () => {
    const { id } = await client().tasks.create({ ...(await place()), prompt: 'Build it.', start_agent: false });
    expect(await client().tasks.getPlan(id)).toEqual({ task_id: id, plan: null });
    const options = { idempotencyKey: randomUUID() };
    expect(await client().tasks.putPlan(id, { content: '# A', title: 'Steps' }, options)).toMatchObject({
      revision: 1,
      deduplicated: false,
    });
    await client().tasks.putPlan(id, { content: '# B', expected_revision: 1 });
    expect(await client().tasks.putPlan(id, { content: '# A', title: 'Steps' }, options)).toMatchObject({
      revision: 1,
      deduplicated: true,
    });
    expect((await refusal(client().tasks.putPlan(id, { content: '# C', expected_revision: 1 }))).code).toBe('CONFLICT');
    expect((await refusal(client().tasks.putPlan(id, { content: ' ' }))).code).toBe('INVALID_INPUT');
    expect((await client().tasks.getPlan(id)).plan).toMatchObject({ title: 'Steps', content: '# B', revision: 2 });
    expect(await client().tasks.deletePlan(id)).toEqual({ task_id: id, deleted: true });
    expect((await client().tasks.getPlan(id)).plan).toBeNull();
  });
});

describe('idempotency keys', () => {
  test('the same key and body return the first object, on every route that creates [K16]', async () => {
    const options = { idempotencyKey: randomUUID() };
    const name = randomUUID();
    const first = await client().workspaces.create({ name }, options);
    expect(await client().workspaces.create({ name }, options)).toEqual(first);
    const profile = { workspace_id: first.id, name: 'p', provider: 'scripted', model: 'm' };
    const profileOptions = { idempotencyKey: randomUUID() };
    const { id } = await client().profiles.create(profile, profileOptions);
    expect((await client().profiles.create(profile, profileOptions)).id).toBe(id);
  });

  test('the same key with another body, or on another route, is refused [K16]', async () => {
    const options = { idempotencyKey: randomUUID() };
    const { id } = await client().workspaces.create({ name: randomUUID() }, options);
    expect((await refusal(client().workspaces.create({ name: randomUUID() }, options))).code).toBe('IDEMPOTENCY_MISMATCH');
    const profile = { workspace_id: id, name: 'p', provider: 'scripted', model: 'm' };
    expect((await refusal(client().profiles.create(profile, options))).code).toBe('IDEMPOTENCY_MISMATCH');
  });

  test('a key belongs to its token [K16]', async () => {
    const { secret } = await client().tokens.issue({ kind: 'operator', label: 'second' });
    const second = createApiClient({ baseUrl: server.url, token: secret });
    const options = { idempotencyKey: randomUUID() };
    const mine = await client().workspaces.create({ name: randomUUID() }, options);
    expect((await second.workspaces.create({ name: randomUUID() }, options)).id).not.toBe(mine.id);
  });

  test('a refused creation frees its key', async () => {
    const name = randomUUID();
    await client().workspaces.create({ name });
    const options = { idempotencyKey: randomUUID() };
    expect((await refusal(client().workspaces.create({ name }, options))).code).toBe('CONFLICT');
    expect((await refusal(client().workspaces.create({ name }, options))).code).toBe('CONFLICT');
  });

  test('a token’s secret is kept nowhere: a repeated key names the token that it issued', async () => {
    const options = { idempotencyKey: randomUUID() };
    const issued = await client().tokens.issue({ kind: 'operator', label: 'once' }, options);
    const repeated = await refusal(client().tokens.issue({ kind: 'operator', label: 'once' }, options));
    expect(repeated).toMatchObject({ code: 'CONFLICT', problem: { details: { token_id: issued.id } } });
    const rows = await server.database.query<{ response: string }>('SELECT response FROM idempotency_record');
    expect(JSON.stringify(rows)).not.toMatch(issued.secret);
  });

  test('a task’s key returns the first task, and refuses any difference, the flag included [F8]', async () => {
    const where = await place();
    const options = { idempotencyKey: randomUUID() };
    const first = await client().tasks.create({ ...where, prompt: 'Do it.' }, options);
    expect(first.deduplicated).toBe(false);
    expect(await client().tasks.create({ ...where, prompt: 'Do it.' }, options)).toMatchObject({ id: first.id, deduplicated: true });
    const changed = client().tasks.create({ ...where, prompt: 'Do it.', autopilot: true }, options);
    expect((await refusal(changed)).code).toBe('IDEMPOTENCY_MISMATCH');
  });

  test('a message’s header and body may not name different keys', async () => {
    const { taskId } = await server.agent();
    const sent = await client().tasks.sendMessage(taskId, { prompt: 'more' }, { idempotencyKey: 'k1' });
    const again = await client().tasks.sendMessage(taskId, { prompt: 'more', idempotency_key: 'k1' });
    expect(again).toMatchObject({ delivery_id: sent.delivery_id, deduplicated: true });
    const torn = client().tasks.sendMessage(taskId, { prompt: 'more', idempotency_key: 'k1' }, { idempotencyKey: 'k2' });
    expect((await refusal(torn)).problem.errors).toEqual([{ path: 'idempotency_key', rule: expect.any(String) }]);
  });

  test('a key of no or too many characters is refused', async () => {
    for (const idempotencyKey of [' ', 'k'.repeat(513)])
      expect((await refusal(client().workspaces.create({ name: randomUUID() }, { idempotencyKey }))).code).toBe('INVALID_INPUT');
  });
});

describe('tasks', () => {
  test('without the flag a task is not autopilot, and every view of REST says so [F1]', async () => {
    const created = await client().tasks.create({ ...(await place()), prompt: 'Do it.' });
    expect(created.autopilot).toBe(false);
    expect((await client().tasks.get(created.id)).autopilot).toBe(false);
    expect((await client().tasks.list({ workspace_id: created.workspace_id })).items[0]?.autopilot).toBe(false);
  });

  test('a change that names autopilot is refused by name, and nothing of it is applied [F5]', async () => {
    const { taskId } = await server.agent();
    const before = await client().tasks.get(taskId);
    const change = { title: 'New title', autopilot: true };
    const error = await refusal(client().tasks.update(taskId, change));
    expect(error).toMatchObject({ code: 'FIELD_IMMUTABLE', problem: { status: 422, details: { field: 'autopilot' } } });
    expect(await client().tasks.get(taskId)).toEqual(before);
  });

  test('a hierarchy is read from both ends, stopped, archived and taken back', async () => {
    const parent = await server.agent();
    const child = await server.agent({ parent, autopilot: true });
    expect((await client().tasks.listRelated(parent.taskId)).children).toMatchObject([{ id: child.taskId, autopilot: true }]);
    expect((await client().tasks.listRelated(child.taskId)).parent).toMatchObject({ id: parent.taskId });
    expect(await client().tasks.stop(parent.taskId)).toMatchObject({ task_id: parent.taskId, descendants: [child.taskId] });
    expect((await client().tasks.update(child.taskId, { state: 'completed' })).state).toBe('completed');
    expect(await client().tasks.archive(child.taskId)).toMatchObject({ already_archived: false });
    expect(await client().tasks.archive(child.taskId)).toMatchObject({ already_archived: true });
    expect((await client().tasks.unarchive(child.taskId)).archived_at).toBeNull();
  });

  test('an agent does not see another workspace’s task', async () => {
    const [stranger, agent] = [await server.agent(), await server.agent()];
    const theirs = createApiClient({ baseUrl: server.url, token: agent.token });
    expect((await refusal(theirs.tasks.get(stranger.taskId))).problem).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect((await theirs.tasks.get(agent.taskId)).id).toBe(agent.taskId);
  });
});

describe('sessions, queues and messages', () => {
  test('a paused session keeps what it is sent, until an entry is taken out', async () => {
    const { taskId, sessionId } = await server.agent();
    expect((await client().sessions.setAutoRun(sessionId, false)).auto_run).toBe(false);
    const { delivery_id } = await client().tasks.sendMessage(taskId, { prompt: 'later' });
    const queued = await client().sessions.listQueue(sessionId);
    expect(queued.items).toContainEqual(expect.objectContaining({ id: delivery_id, state: 'queued', text: 'later' }));
    expect(await client().sessions.removeQueueEntry(sessionId, delivery_id)).toMatchObject({ state: 'cancelled' });
    expect(await client().deliveries.get(delivery_id)).toMatchObject({ state: 'cancelled' });
    expect((await refusal(client().sessions.removeQueueEntry(sessionId, delivery_id))).code).toBe('ENTRY_NOT_QUEUED');
  });

  test('a session, its turns and its conversation are read', async () => {
    const { taskId, sessionId } = await server.agent();
    expect(await client().sessions.get(sessionId)).toMatchObject({ task_id: taskId, is_primary: true });
    expect((await client().tasks.listSessions(taskId)).items).toMatchObject([{ id: sessionId }]);
    expect(await client().sessions.listTurns(sessionId)).toEqual({ items: [], next_cursor: null });
    expect(await client().sessions.listMessages(sessionId, { types: ['prompt', 'answer'] })).toEqual({ items: [], next_cursor: null });
    expect(await client().tasks.listMessages(taskId)).toEqual({ items: [], next_cursor: null });
    expect((await refusal(client().sessions.listMessages(sessionId, { before: 1, after: 1 }))).problem.errors).toMatchObject([
      { path: 'before' },
    ]);
  });

  test('a turn that does not exist is not found and cannot be stopped', async () => {
    expect((await refusal(client().turns.get(randomUUID()))).code).toBe('NOT_FOUND');
    expect((await refusal(client().turns.stop(randomUUID()))).code).toBe('NOT_FOUND');
  });
});

describe('questions', () => {
  async function askParent(): Promise<{ readonly questionId: string; readonly child: TestAgent; readonly parent: TestAgent }> {
    const parent = await server.agent();
    const child = await server.agent({ parent, autopilot: true });
    const input = { questions: [{ prompt: 'Which one?' }] };
    const asked = await server.services.questions.askParent(await actorOf(child), input, randomUUID());
    if (isRefusal(asked)) throw new Error(asked.code);
    return { questionId: asked.question_id, child, parent };
  }

  test('an operator reads a parent’s question and its chain, but no answer of his is taken [V3]', async () => {
    const { questionId, child, parent } = await askParent();
    const question = await client().questions.get(questionId);
    expect(question).toMatchObject({ status: 'pending', task_id: child.taskId, parent_task_id: parent.taskId });
    expect((await client().questions.getChain(questionId)).hops).toEqual(question.chain);
    const { items } = await client().questions.list({ kind: 'parent', task_id: child.taskId, status: 'pending' });
    expect(question).toEqual({ ...items[0], chain: items });
    const answers = { q1: 'mine' };
    expect((await refusal(client().questions.answer(questionId, { answers }))).code).toBe('QUESTION_NOT_YOURS');
    const reply = { prompt: 'mine', reply_to_question_id: questionId };
    expect((await refusal(client().tasks.sendMessage(child.taskId, reply))).code).toBe('QUESTION_NOT_YOURS');
    expect(await client().questions.get(questionId)).toEqual(question);
  });

  test('an operator’s question is answered once; who comes second reads the winner’s answer', async () => {
    const agent = await server.agent();
    const input = { questions: [{ prompt: 'Ship it?', options: [{ label: 'Yes' }, { label: 'No' }] }] };
    const asked = await server.services.questions.askUser(await actorOf(agent), input, randomUUID());
    if (isRefusal(asked)) throw new Error(asked.code);
    expect(await client().questions.answer(asked.id, { answers: { q1: 'Yes' } })).toMatchObject({ status: 'answered', claimed: true });
    const second = await client().questions.answer(asked.id, { rejected: true });
    expect(second).toMatchObject({ status: 'answered', answers: { q1: 'Yes' }, claimed: false });
  });
});
