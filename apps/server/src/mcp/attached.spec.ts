import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectModern, type McpClient } from '../../../../test/support/mcp-clients.js';
import { type RunningServer, startServer, type TestAgent } from '../../../../test/support/running-server.js';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

interface Attached extends TestAgent {
  readonly client: McpClient;
}

/** A task whose agent somebody else runs, with its own prompt waiting, and that agent's client. */
async function attach(): Promise<Attached> {
  const workspace = await server.client.workspaces.create({ name: crypto.randomUUID() });
  const profile = await server.client.profiles.create({
    workspace_id: workspace.id,
    name: 'Own',
    runtime: 'external',
    provider: 'own',
    model: 'own',
  });
  const task = await server.client.tasks.create({ workspace_id: workspace.id, profile_id: profile.id, prompt: 'Lead.' });
  const { secret } = await server.client.tokens.issue({ kind: 'session', label: 'agent', task_id: task.id });
  const client = await connectModern(server.url, secret, 'auto');
  return { taskId: task.id, sessionId: task.primary_session_id ?? '', token: secret, client };
}

async function wait({ client }: Attached, finished?: string, seconds = 0): Promise<Readonly<Record<string, unknown>>> {
  const input = { timeout_seconds: seconds, ...(finished === undefined ? {} : { finished_turn_id: finished }) };
  const result = await client.call('wait_for_messages_kandev', input);
  if (result.isError || !result.structured) throw new Error(result.text);
  return result.structured;
}

const say = ({ taskId }: TestAgent, prompt: string) => server.client.tasks.sendMessage(taskId, { prompt });

async function turnsOf({ sessionId }: TestAgent) {
  const { items } = await server.client.sessions.listTurns(sessionId);
  return items.toReversed().map(({ status, outcome }) => outcome ?? status);
}

describe('an attached session', () => {
  test('gets each message once per turn: named, the turn is over; not named, the message comes again', async () => {
    const agent = await attach();
    await say(agent, 'Second.');
    const first = await wait(agent);
    expect(first).toMatchObject({ delivered_before: false, message: { kind: 'prompt', text: 'Lead.', state: 'delivered' } });
    expect(await server.client.sessions.get(agent.sessionId)).toMatchObject({ state: 'running', current_turn_id: first['turn_id'] });
    expect(await server.client.tasks.get(agent.taskId)).toMatchObject({ state: 'in_progress' });
    expect(await wait(agent)).toEqual({ ...first, delivered_before: true });
    const second = await wait(agent, String(first['turn_id']));
    expect(second).toMatchObject({ delivered_before: false, message: { text: 'Second.' } });
    expect(await wait(agent, String(second['turn_id']))).toEqual({ message: null });
    expect(await turnsOf(agent)).toEqual(['completed', 'completed']);
    expect(await server.client.sessions.get(agent.sessionId)).toMatchObject({ state: 'idle', current_turn_id: null });
    expect(await server.client.tasks.get(agent.taskId)).toMatchObject({ state: 'review' });
    await agent.client.close();
  });

  test('reads its inbox without taking anything, and there what it was handed last', async () => {
    const agent = await attach();
    const inbox = await agent.client.call('list_task_inbox_kandev');
    expect(inbox.structured).toMatchObject({ items: [{ text: 'Lead.', state: 'queued' }], delivered: null });
    expect(await turnsOf(agent)).toEqual([]);
    const first = await wait(agent);
    const again = await agent.client.call('list_task_inbox_kandev');
    expect(again.structured).toEqual({ items: [], next_cursor: null, delivered: { ...first, delivered_before: true } });
    expect(await turnsOf(agent)).toEqual(['running']);
    await agent.client.close();
  });

  test('is answered at once by a message that comes while it waits', async () => {
    const agent = await attach();
    const first = await wait(agent);
    await wait(agent, String(first['turn_id']));
    const waiting = wait(agent, undefined, 20);
    await say(agent, 'Now.');
    expect(await waiting).toMatchObject({ message: { text: 'Now.' } });
    await agent.client.close();
  });

  test('holds no connection while it waits: more calls wait than the pool has connections, and all hear of the one message', async () => {
    const agent = await attach();
    const first = await wait(agent);
    await wait(agent, String(first['turn_id']));
    const waiting = Array.from({ length: 15 }, () => wait(agent, undefined, 20));
    expect(await server.client.tasks.get(agent.taskId)).toMatchObject({ state: 'review' });
    await say(agent, 'Now.');
    const turns = new Set((await Promise.all(waiting)).map((one) => one['turn_id']));
    expect(turns.size).toBe(1);
    expect(await turnsOf(agent)).toEqual(['completed', 'running']);
    await agent.client.close();
  });

  test('whose caller hangs up waits no longer and takes nothing', async () => {
    const agent = await attach();
    const first = await wait(agent);
    await wait(agent, String(first['turn_id']));
    const caller = await server.services.tokens.authenticate(agent.token);
    if (caller?.actor.kind !== 'agent') throw new Error("the token is no agent's");
    const hangUp = new AbortController();
    const call = { finishedTurnId: null, timeoutMs: 20_000, signal: hangUp.signal };
    const waiting = server.services.attached.waitForMessage(caller.actor, call);
    hangUp.abort();
    expect(await waiting).toEqual({ message: null });
    await say(agent, 'Later.');
    expect((await server.client.sessions.listQueue(agent.sessionId)).items).toMatchObject([{ text: 'Later.', state: 'queued' }]);
    await agent.client.close();
  });

  test('of two waits at once one opens the turn, and the other is told that it was delivered before', async () => {
    const agent = await attach();
    const both = await Promise.all([wait(agent), wait(agent)]);
    expect(both.map((one) => one['delivered_before']).toSorted()).toEqual([false, true]);
    expect(new Set(both.map((one) => one['turn_id'])).size).toBe(1);
    await agent.client.close();
  });

  test('opens a turn by its first call, and a completion signal ends it with the task', async () => {
    const agent = await attach();
    const created = await agent.client.call('create_task_kandev', { prompt: 'Build it.' });
    expect(created.isError).toBe(false);
    expect(await turnsOf(agent)).toEqual(['running']);
    expect((await agent.client.call('list_task_inbox_kandev')).structured).toMatchObject({ items: [{ text: 'Lead.' }] });
    expect((await agent.client.call('step_complete_kandev', { summary: 'Done.' })).structured).toEqual({ accepted: true });
    expect(await turnsOf(agent)).toEqual(['completed']);
    expect(await server.client.tasks.get(agent.taskId)).toMatchObject({ state: 'completed', result: 'Done.' });
    await agent.client.close();
  });

  test('asks its operator without holding a call, and hears the answer once: as a message, or by asking again [V4]', async () => {
    for (const how of ['message', 'ask again'] as const) {
      const agent = await attach();
      const first = await wait(agent);
      const ask = { questions: [{ prompt: 'Which?' }] };
      const asked = await agent.client.call('ask_user_question_kandev', ask);
      expect(asked.structured).toMatchObject({ status: 'pending' });
      expect(await turnsOf(agent)).toEqual(['completed']);
      expect(await server.client.tasks.get(agent.taskId)).toMatchObject({ pending_action: 'clarification' });
      expect(await wait(agent, String(first['turn_id']))).toEqual({ message: null });
      await server.client.questions.answer(String(asked.structured?.['question_id']), { answers: { q1: 'This one.' } });
      if (how === 'message') {
        const told = await wait(agent);
        expect(told).toMatchObject({ message: { kind: 'notice', question_id: asked.structured?.['question_id'] } });
        expect((told['message'] as { text: string }).text).toContain('> This one.');
      } else {
        const again = await agent.client.call('ask_user_question_kandev', ask);
        expect(again.structured).toMatchObject({ status: 'answered', questions: { q1: { text: 'This one.' } } });
        expect(await wait(agent)).toEqual({ message: null });
      }
      await agent.client.close();
    }
  });

  test('is a parent: it is delivered a child’s question and answers it [A7]', async () => {
    const agent = await attach();
    const first = await wait(agent);
    const { id: profile_id } = await server.client.profiles.create({
      workspace_id: (await server.client.tasks.get(agent.taskId)).workspace_id,
      name: 'Loop',
      provider: 'scripted',
      model: 'scripted',
    });
    const created = await agent.client.call('create_task_kandev', { prompt: 'Build it.', autopilot: true, profile_id });
    const childId = String(created.structured?.['id']);
    const { secret } = await server.client.tokens.issue({ kind: 'session', label: 'child', task_id: childId });
    const child = await connectModern(server.url, secret, 'auto');
    const asked = await child.call('ask_parent_question_kandev', { questions: [{ prompt: 'Which?' }] });
    expect((await server.client.sessions.listQueue(agent.sessionId)).items).toMatchObject([{ kind: 'question', state: 'queued' }]);
    const question = await wait(agent, String(first['turn_id']));
    const question_id = asked.structured?.['question_id'];
    expect(question).toMatchObject({ message: { kind: 'question', question_id } });
    const reply = { task_id: childId, prompt: 'The first.', reply_to_question_id: question_id };
    expect(await agent.client.call('message_task_kandev', reply)).toMatchObject({ isError: false });
    expect(await server.client.questions.get(String(question_id))).toMatchObject({ status: 'answered' });
    await child.close();
    await agent.client.close();
  });

  test('that was stopped may do nothing more until it is resumed [M12]', async () => {
    const agent = await attach();
    const first = await wait(agent);
    await server.client.turns.stop(String(first['turn_id']));
    await say(agent, 'Later.');
    expect(await agent.client.call('create_task_kandev', { prompt: 'x' })).toMatchObject({ isError: true, text: /TURN_STOPPING/ });
    expect(await turnsOf(agent)).toEqual(['cancelled']);
    expect(await wait(agent)).toEqual({ message: null });
    const waiting = wait(agent, undefined, 20);
    await server.client.sessions.setAutoRun(agent.sessionId, true);
    expect(await waiting).toMatchObject({ message: { text: 'Later.' } });
    await agent.client.close();
  });

  test('an agent that we run has no inbox', async () => {
    const agent = await server.agent();
    const client = await connectModern(server.url, agent.token, 'auto');
    expect((await client.list()).map(({ name }) => name)).not.toContain('wait_for_messages_kandev');
    await expect(client.call('wait_for_messages_kandev')).rejects.toThrow(/Unknown tool/);
    await client.close();
  });
});
