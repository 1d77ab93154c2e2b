/** The main job on one process: an agent that we do not run delegates over MCP, our agent asks, and the answer brings it to its end. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiClient } from '@echelon/api-client';
import type { Task } from '@echelon/contracts';
import { waitFor } from '@echelon/testkit';
import { findViolations } from '../support/invariants.js';
import { type CallResult, CLIENTS, connectModern, connectOld, type McpClient } from '../support/mcp-clients.js';
import { CHILD_PROMPT, CHILD_RESULT, GREETING, STEPS, storyScript } from './story-script.js';
import { MODELS, type Node, StoryWorld } from './story-world.js';

let world: StoryWorld;
let node: Node;
let api: ApiClient;
let place: { readonly workspace_id: string; readonly external: string; readonly loop: string };
const open: McpClient[] = [];

/** Asks, and wants to go on in the same response. */
const ask: typeof STEPS.ask = (request) => ({
  toolCalls: [STEPS.ask(request), STEPS.write(request)].flatMap(({ toolCalls = [] }) => toolCalls),
});

beforeAll(async () => {
  world = await StoryWorld.open(storyScript({ ask }));
  node = await world.startNode();
  api = node.api;
  const { id: workspace_id } = await api.workspaces.create({ name: 'story' });
  const profile = (runtime: 'external' | 'loop') =>
    api.profiles.create({ workspace_id, name: runtime, runtime, provider: 'scripted', model: MODELS.child });
  place = { workspace_id, external: (await profile('external')).id, loop: (await profile('loop')).id };
}, 60_000);
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await world.close();
});

/** A task whose agent we do not run. */
function createExternal(parent?: Task): Promise<Task> {
  const where = parent ? { parent_id: parent.id } : { workspace_id: place.workspace_id };
  return api.tasks.create({ ...where, profile_id: place.external, prompt: 'Delegate.' });
}

type Connect = (url: string, token: string) => Promise<McpClient>;

/** The agent of a task, over MCP. */
async function actAs(task: Pick<Task, 'id'>, connect: Connect = connectOld): Promise<McpClient> {
  const { secret } = await api.tokens.issue({ kind: 'session', label: 'agent', task_id: task.id });
  const client = await connect(node.url, secret);
  open.push(client);
  return client;
}

interface Delegated {
  readonly id: string;
  readonly primary_session_id: string;
}

/** Delegates to an autopilot child that our worker runs. */
async function delegate(parent: McpClient): Promise<Delegated> {
  const created = await parent.call('create_task_kandev', {
    title: 'The greeting',
    prompt: CHILD_PROMPT,
    autopilot: true,
    profile_id: place.loop,
  });
  expect(created).toMatchObject({ isError: false, structured: { autopilot: true, deduplicated: false } });
  return created.structured as unknown as Delegated;
}

interface Pending {
  readonly id: string;
  readonly session_id: string;
  readonly questions: readonly { readonly prompt: string }[];
}

/** What the parent sees of the child's wait, as soon as it waits. */
function untilAsked(parent: McpClient, child: Delegated): Promise<Pending> {
  return waitFor('the child asks', async () => {
    const { structured } = await parent.call('get_task_kandev', { task_id: child.id });
    return structured?.['state'] === 'waiting' && (structured['pending_question'] as Pending | null);
  });
}

function replyTo(
  child: Delegated,
  question: Pending,
): { readonly task_id: string; readonly session_id: string; readonly reply_to_question_id: string } {
  return { task_id: child.id, session_id: question.session_id, reply_to_question_id: question.id };
}

function expectRefused(result: CallResult, code: string): void {
  expect({ isError: result.isError, code: /^[A-Z_]+/.exec(result.text)?.[0] }).toEqual({ isError: true, code });
  expect(result.text).not.toContain('Which language?');
}

function readDeliveries(questionId: string): Promise<readonly object[]> {
  return world.rows(`SELECT kind, state FROM queue_entry WHERE question_id = $1 ORDER BY kind`, [questionId]);
}

/** What became of the child's attempts to write its file. */
function readWrites(child: Delegated): Promise<readonly object[]> {
  return world.rows(`SELECT state, result FROM tool_call WHERE session_id = $1 AND name = 'write_file' ORDER BY created_at`, [
    child.primary_session_id,
  ]);
}

test('the tokens of a normal task, an autopilot child and an autopilot root offer three different tool lists [D1]', async () => {
  const parent = await createExternal();
  const quiet = { prompt: 'Wait.', autopilot: true, profile_id: place.loop, start_agent: false };
  const child = await api.tasks.create({ ...quiet, parent_id: parent.id });
  const root = await api.tasks.create({ ...quiet, workspace_id: place.workspace_id });
  const [normal, asking, alone] = await Promise.all(
    [parent, child, root].map(async (task) => (await (await actAs(task)).list()).map(({ name }) => name)),
  );
  expect(normal).toEqual([...alone!, 'list_task_inbox_kandev', 'wait_for_messages_kandev', 'ask_user_question_kandev']);
  expect(asking).toEqual([...alone!, 'ask_parent_question_kandev']);
  expect(alone).toEqual(expect.arrayContaining(['create_task_kandev', 'message_task_kandev', 'step_complete_kandev']));
});

describe.each(CLIENTS)('with %s', (_title, _version, connect) => {
  test('a delegated agent asks, waits, is answered once, and comes to its end [A1, A15, R1, R2, V1]', async () => {
    const parent = await createExternal();
    const client = await actAs(parent, connect);
    const child = await delegate(client);

    const question = await untilAsked(client, child);
    expect(question.questions).toMatchObject([{ prompt: 'Which language?' }]);
    expect(await api.tasks.get(child.id)).toMatchObject({ parent_id: parent.id, autopilot: true, pending_action: 'clarification' });
    expect(await readDeliveries(question.id)).toEqual([{ kind: 'question', state: 'queued' }]);
    expect(await readWrites(child)).toEqual([{ state: 'not_executed', result: expect.stringMatching('earlier call .* ends the turn') }]);

    const answered = await client.call('message_task_kandev', { ...replyTo(child, question), prompt: 'German.' });
    expect(answered).toMatchObject({ isError: false, structured: { ...replyTo(child, question), status: 'sent' } });
    const { delivery_id } = answered.structured as { readonly delivery_id: string };
    for (const prompt of ['German.', 'English.']) {
      const again = await client.call('message_task_kandev', { ...replyTo(child, question), prompt });
      expect(again).toMatchObject({ isError: false, structured: { status: 'already_answered', delivery_id } });
    }

    await world.untilEnded(child.id);
    const done = await client.call('get_task_kandev', { task_id: child.id });
    expect(done.structured).toMatchObject({ state: 'completed', result: CHILD_RESULT, pending_action: null, pending_question: null });
    expect(await readDeliveries(question.id)).toEqual([
      { kind: 'answer', state: 'delivered' },
      { kind: 'question', state: 'cancelled' },
    ]);
    expect(await world.rows('SELECT outcome FROM turn WHERE session_id = $1 ORDER BY number', [child.primary_session_id])).toHaveLength(2);
    expect(await readWrites(child)).toMatchObject([{ state: 'not_executed' }, { state: 'done' }]);
    expect(world.readFile(parent)).toBe(GREETING);
    expect(await findViolations(world.database)).toEqual({});
  });
});

describe('answers that are not accepted', () => {
  let tasks: { readonly grandparent: Task; readonly parent: Task; readonly sibling: Task; readonly stranger: Task };
  let client: McpClient;
  let child: Delegated;
  let question: Pending;

  beforeAll(async () => {
    const grandparent = await createExternal();
    const parent = await createExternal(grandparent);
    tasks = { grandparent, parent, sibling: await createExternal(parent), stranger: await createExternal() };
    client = await actAs(parent);
    child = await delegate(client);
    question = await untilAsked(client, child);
  }, 60_000);

  const answer = (by: McpClient, changes: object = {}) =>
    by.call('message_task_kandev', { ...replyTo(child, question), prompt: 'French.', ...changes });

  test('from anyone but the direct parent are refused without a word of the question [R4]', async () => {
    for (const task of [tasks.grandparent, tasks.sibling, tasks.stranger])
      expectRefused(await answer(await actAs(task)), 'QUESTION_NOT_YOURS');
  });

  test('from the child itself are refused: its turn ended with the question [R4, A16]', async () => {
    expectRefused(await answer(await actAs(child)), 'TURN_ENDED_BY_QUESTION');
  });

  test('from an operator are refused over MCP and over REST [R4, V3]', async () => {
    const { secret } = await api.tokens.issue({ kind: 'operator', label: 'over MCP' });
    const operator = await connectModern(node.url, secret, 'auto');
    open.push(operator);
    expectRefused(await answer(operator), 'QUESTION_NOT_YOURS');
    const { task_id, ...reply } = replyTo(child, question);
    await expect(api.tasks.sendMessage(task_id, { ...reply, prompt: 'French.' })).rejects.toMatchObject({ code: 'QUESTION_NOT_YOURS' });
    await expect(api.questions.answer(question.id, { answers: { q1: 'French.' } })).rejects.toMatchObject({ code: 'QUESTION_NOT_YOURS' });
  });

  test('to an unknown question, or to an ordinary message, are refused [R5]', async () => {
    const [message] = (await api.tasks.listMessages(child.id)).items;
    for (const reply_to_question_id of ['01890000-0000-7000-8000-000000000000', message!.id, 'no id at all'])
      expectRefused(await answer(client, { reply_to_question_id }), 'QUESTION_UNKNOWN');
  });

  test('that name another task or session are refused [R6]', async () => {
    expectRefused(await answer(client, { task_id: tasks.sibling.id }), 'QUESTION_TARGET_MISMATCH');
    expectRefused(await answer(client, { session_id: tasks.sibling.primary_session_id }), 'QUESTION_TARGET_MISMATCH');
  });

  test('leave the question pending and the child waiting; after the child’s end they come too late [R7, S3, S5, S9]', async () => {
    expect(await readDeliveries(question.id)).toEqual([{ kind: 'question', state: 'queued' }]);
    expect(await api.questions.get(question.id)).toMatchObject({ status: 'pending' });
    await api.tasks.update(child.id, { state: 'cancelled' });
    expectRefused(await answer(client), 'QUESTION_NOT_PENDING');
    expect(await api.questions.get(question.id)).toMatchObject({ status: 'stale', cause: 'task_ended', answer: null });
    expect(await readDeliveries(question.id)).toEqual([{ kind: 'question', state: 'cancelled' }]);
    expect(await findViolations(world.database)).toEqual({});
  });
});
