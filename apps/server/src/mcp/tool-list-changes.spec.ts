import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@echelon/testkit';
import { CLIENTS, connectOld, type McpClient } from '../../../../test/support/mcp-clients.js';
import { type RunningServer, startServer } from '../../../../test/support/running-server.js';
import { type ServerTurns, turnsOf } from '../../../../test/support/server-turns.js';

const ASK = 'ask_parent_question_kandev';
const QUESTION = { questions: [{ prompt: 'Which one?' }] };

type Process = Pick<RunningServer, 'url' | 'metrics' | 'stop'>;

let server: RunningServer;
let turns: ServerTurns;
/** Another process: its subscribers hear of what happens in the first. */
let other: Process;

beforeAll(async () => {
  server = await startServer();
  other = await server.another();
  turns = await turnsOf(server);
});
afterAll(async () => {
  await turns.close();
  await other.stop();
  await server.stop();
});

async function subscriptionsOf({ metrics }: Process): Promise<number> {
  return (await metrics.mcpSubscriptions.get()).values[0]?.value ?? 0;
}

type Connect = (typeof CLIENTS)[number][2];

/** An autopilot task, with or without a parent; nothing runs its turns but this spec. */
async function createAgent({ child }: { readonly child: boolean }) {
  const parent = await server.agent();
  const { workspace_id, profile_id } = await server.client.tasks.get(parent.taskId);
  const place = child ? { parent_id: parent.taskId } : { workspace_id, profile_id };
  const task = await server.client.tasks.create({ ...place, prompt: 'Build it.', autopilot: true });
  const { secret } = await server.client.tokens.issue({ kind: 'session', label: 'agent', task_id: task.id });
  return { taskId: task.id, sessionId: String(task.primary_session_id), parentId: parent.taskId, secret };
}

/** A client on each process, that counts what it hears. */
async function subscribe(connect: Connect, secret: string) {
  const processes: readonly Process[] = [server, other];
  const heard = [0, 0];
  const clients = await Promise.all(
    processes.map(async (process, index) => {
      const client = await connect(process.url, secret);
      await client.onToolsChanged(() => void (heard[index] = (heard[index] ?? 0) + 1));
      await waitFor('the subscription', async () => (await subscriptionsOf(process)) === 1);
      return client;
    }),
  );
  const offered = async () => Promise.all(clients.map((each) => offers(each)));
  const close = async () => {
    await Promise.all(clients.map((each) => each.close()));
    for (const process of processes) await waitFor('no subscription', async () => (await subscriptionsOf(process)) === 0);
  };
  return { client: clients[0]!, heard, offered, close };
}

async function offers(client: McpClient): Promise<boolean> {
  return (await client.list()).some(({ name }) => name === ASK);
}

describe.each(CLIENTS)('%s', (_title, _version, connect) => {
  test('that subscribed hears once, when the turn has ended, that its detached task may ask no more, on every process [D5]', async () => {
    const { taskId, sessionId, parentId, secret } = await createAgent({ child: true });
    const { client, heard, offered, close } = await subscribe(connect, secret);
    const endTurn = await turns.open(sessionId);
    await server.client.tasks.reparent(taskId, null);
    expect(await offered()).toEqual([true, true]);
    expect(await client.call(ASK, QUESTION)).toMatchObject({ isError: true, text: expect.stringMatching('NO_PARENT') });
    expect(heard).toEqual([0, 0]);
    await endTurn();
    await waitFor('the notification', () => heard.every((times) => times >= 1));
    expect(await offered()).toEqual([false, false]);
    await server.client.tasks.reparent(taskId, parentId);
    await waitFor('the next notification', () => heard.every((times) => times >= 2));
    expect(heard).toEqual([2, 2]);
    await close();
  });

  test('hears nothing of what comes back before the turn ends, nor of turns and changes that leave its tools alone [D5]', async () => {
    const { taskId, sessionId, parentId, secret } = await createAgent({ child: true });
    const { heard, offered, close } = await subscribe(connect, secret);
    const endTurn = await turns.open(sessionId);
    await server.client.tasks.reparent(taskId, null);
    await server.client.tasks.reparent(taskId, parentId);
    await server.client.tasks.update(taskId, { title: 'Another title' });
    await endTurn();
    expect(await offered()).toEqual([true, true]);
    await server.client.tasks.reparent(taskId, null);
    await waitFor('a notification', () => heard.every((times) => times >= 1));
    expect(heard).toEqual([1, 1]);
    await close();
  });

  test('that subscribed hears once, when the turn has ended, that its attached root may ask [D6]', async () => {
    const { taskId, sessionId, parentId, secret } = await createAgent({ child: false });
    const { client, heard, offered, close } = await subscribe(connect, secret);
    const endTurn = await turns.open(sessionId);
    await server.client.tasks.reparent(taskId, parentId);
    expect(await offered()).toEqual([false, false]);
    expect(heard).toEqual([0, 0]);
    await endTurn();
    await waitFor('the notification', () => heard.every((times) => times >= 1));
    expect(await offered()).toEqual([true, true]);
    expect(await client.call(ASK, QUESTION)).toMatchObject({ isError: false, structured: { parent_task_id: parentId } });
    await server.client.tasks.reparent(taskId, null);
    await waitFor('the next notification', () => heard.every((times) => times >= 2));
    expect(heard).toEqual([2, 2]);
    await close();
  });

  test('without a subscription meets the typed refusal at its next call, and other names stay unknown [D3] [D5]', async () => {
    const { taskId, secret } = await createAgent({ child: true });
    const client = await connect(server.url, secret);
    expect(await offers(client)).toBe(true);
    await server.client.tasks.reparent(taskId, null);
    expect(await client.call(ASK, QUESTION)).toMatchObject({ isError: true, text: expect.stringMatching('NO_PARENT') });
    await expect(client.call('answer_question_kandev', {})).rejects.toThrow(/Unknown tool answer_question_kandev/);
    await client.close();
    await waitFor('no subscription', async () => (await subscriptionsOf(server)) === 0);
  });
});

test('a subscription ends with its server, and an operator has none, whose tools never change', async () => {
  const own = await startServer();
  try {
    const operator = await connectOld(own.url, own.token);
    const agent = await connectOld(own.url, (await own.agent()).token);
    await waitFor('the agent’s subscription', async () => (await subscriptionsOf(own)) > 0);
    expect(await subscriptionsOf(own)).toBe(1);
    await own.closeServer();
    expect(await subscriptionsOf(own)).toBe(0);
    await Promise.all([operator.close(), agent.close()]);
  } finally {
    await own.stop();
  }
});
