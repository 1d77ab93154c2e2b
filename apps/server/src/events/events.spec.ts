import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FollowedEvent, FollowOptions } from '@echelon/api-client';
import type { DurableEvent, LiveEvent } from '@echelon/contracts';
import { liveTopic } from '@echelon/orchestration';
import { waitFor } from '@echelon/testkit';
import { type RunningServer, startServer, type TestAgent } from '../../../../test/support/running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ heartbeatMs: 50 });
});
afterAll(() => server.stop());

/** A stream that is read in the background; `seen` grows. */
class Reader {
  readonly seen: FollowedEvent[] = [];
  readonly #abort = new AbortController();
  readonly #done: Promise<void>;

  constructor(from: RunningServer, options: FollowOptions = {}) {
    const stream = from.client.events.follow({ ...options, signal: this.#abort.signal });
    this.#done = (async () => {
      for await (const event of stream) this.seen.push(event);
    })();
  }

  static async open(from: RunningServer, options: FollowOptions = {}): Promise<Reader> {
    const reader = new Reader(from, options);
    await waitFor('the stream is open', () => reader.seen.length > 0);
    return reader;
  }

  get durable(): readonly DurableEvent[] {
    return this.seen.flatMap((followed) => (followed.kind === 'durable' ? [followed.event] : []));
  }

  get live(): readonly LiveEvent[] {
    return this.seen.flatMap((followed) => (followed.kind === 'live' ? [followed.event] : []));
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#done;
  }
}

function deltaOf({ taskId, sessionId }: TestAgent, workspaceId: string, text: string): LiveEvent {
  return {
    type: 'text-delta',
    workspace_id: workspaceId,
    task_id: taskId,
    session_id: sessionId,
    turn_id: randomUUID(),
    message_id: randomUUID(),
    offset: 0,
    text,
  };
}

async function publish(agent: TestAgent, text: string): Promise<void> {
  const { workspace_id } = await server.client.tasks.get(agent.taskId);
  server.bus.publish([{ topic: liveTopic(agent.sessionId), payload: JSON.stringify(deltaOf(agent, workspace_id, text)) }]);
}

describe('the event stream', () => {
  test('durable events come in order of position, each once, as they are committed [K15]', async () => {
    const reader = await Reader.open(server);
    const { taskId } = await server.agent();
    await waitFor('task.created', () => reader.durable.some((event) => event.type === 'task.created' && event.task_id === taskId));
    await reader.close();
    const positions = reader.durable.map(({ position }) => BigInt(position));
    expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => (a < b ? -1 : 1)));
  });

  test('a reader that comes back gets exactly what it missed [K15]', async () => {
    const before = await Reader.open(server);
    const first = await server.agent();
    await waitFor('the first task', () => before.durable.some(({ task_id }) => task_id === first.taskId));
    await before.close();
    const after = before.durable.at(-1)!.position;
    const missed = await server.agent();
    const resumed = await Reader.open(server, { after });
    const next = await server.agent();
    await waitFor('the last task', () => resumed.durable.some(({ type, task_id }) => type === 'task.created' && task_id === next.taskId));
    await resumed.close();
    expect(resumed.durable.every(({ position }) => BigInt(position) > BigInt(after))).toBe(true);
    const created = resumed.durable.filter(({ type }) => type === 'task.created').map(({ task_id }) => task_id);
    expect(created).toEqual([missed.taskId, next.taskId]);
  });

  test('a cursor that is unknown is told to start over, and goes on from the head [K15]', async () => {
    for (const after of ['999999999999', 'nonsense']) {
      const reader = await Reader.open(server, { after });
      const reset = await waitFor('the reset', () => reader.seen.find((event) => event.kind === 'reset'));
      expect(reset.cursor).toBe(await server.services.events.head());
      const { taskId } = await server.agent();
      await waitFor('what follows', () => reader.durable.some(({ task_id }) => task_id === taskId));
      await reader.close();
    }
  });

  test('a stream of one task, and of one workspace, has no other’s events', async () => {
    const [mine, other] = [await server.agent(), await server.agent()];
    const { workspace_id } = await server.client.tasks.get(mine.taskId);
    const ofTask = await Reader.open(server, { task_id: mine.taskId });
    const ofWorkspace = await Reader.open(server, { workspace_id });
    await server.client.tasks.update(other.taskId, { title: 'not mine' });
    await server.client.tasks.update(mine.taskId, { title: 'mine' });
    for (const reader of [ofTask, ofWorkspace]) {
      await waitFor('task.updated', () => reader.durable.some(({ type }) => type === 'task.updated'));
      await reader.close();
    }
    expect(new Set(ofTask.durable.map(({ task_id }) => task_id))).toEqual(new Set([mine.taskId]));
    expect(new Set(ofWorkspace.durable.map((event) => event.workspace_id))).toEqual(new Set([workspace_id]));
  });

  test('live pieces reach who is there, carry no position, and are never replayed [K15]', async () => {
    const agent = await server.agent();
    const reader = await Reader.open(server, { task_id: agent.taskId });
    await publish(agent, 'Hel');
    await waitFor('the piece', () => reader.live.length === 1);
    expect(reader.live[0]).toMatchObject({ type: 'text-delta', text: 'Hel', offset: 0 });
    await reader.close();
    const late = await Reader.open(server, { task_id: agent.taskId, after: '0' });
    await server.client.tasks.update(agent.taskId, { title: 'done' });
    await waitFor('task.updated', () => late.durable.some(({ type }) => type === 'task.updated'));
    await late.close();
    expect(late.live).toEqual([]);
  });

  test('silence is broken by comments', async () => {
    const response = await fetch(`${server.url}/api/v1/events`, { headers: { authorization: `Bearer ${server.token}` } });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('\n:')) text += (await reader.read()).value;
    await reader.cancel();
    expect(text).toMatch(/^id: \d+\n\n: /);
  });

  test('a browser’s cookie opens the stream', async () => {
    const headers = { cookie: `echelon_token=${server.token}` };
    const response = await fetch(`${server.url}/api/v1/events`, { headers });
    expect(response.status).toBe(200);
    await response.body!.cancel();
  });

  test('open streams are counted, and closed ones no longer', async () => {
    const count = async () => (await server.metrics.eventStreams.get()).values[0]?.value ?? 0;
    await waitFor('none left', async () => (await count()) === 0);
    const reader = await Reader.open(server);
    await waitFor('one', async () => (await count()) === 1);
    await reader.close();
    await waitFor('none', async () => (await count()) === 0);
  });
});

describe('a client that does not keep up', () => {
  test('is disconnected instead of buffered; one that reads gets everything', async () => {
    const own = await startServer({ maxStreamBacklogBytes: 256 * 1024 });
    try {
      const agent = await own.agent();
      const quick = await Reader.open(own);
      const slow = await openSilently(own);
      await insertLargeEvents(own, agent);
      await own.client.tasks.update(agent.taskId, { title: 'one' });
      await waitFor('the quick one has all', () => quick.durable.filter(({ data }) => 'text' in data).length === LARGE_EVENTS);
      await own.client.tasks.update(agent.taskId, { title: 'two' });
      await waitFor('the slow one is gone', async () => (await own.metrics.eventStreams.get()).values[0]?.value === 1);
      const { position } = quick.durable.at(-1)!;
      await own.client.tasks.update(agent.taskId, { title: 'three' });
      await waitFor('the quick one goes on', () => quick.durable.at(-1)!.position !== position);
      await quick.close();
      slow.destroy();
    } finally {
      await own.stop();
    }
  });
});

const LARGE_EVENTS = 8;

/** More than the kernel buffers for one connection. */
async function insertLargeEvents({ database, client }: RunningServer, { taskId }: TestAgent): Promise<void> {
  const { workspace_id } = await client.tasks.get(taskId);
  await database.query(
    `INSERT INTO event (id, workspace_id, type, task_id, payload)
     SELECT gen_random_uuid(), $1, 'task.updated', $2, json_build_object('text', repeat('x', 1000000)) FROM generate_series(1, $3)`,
    [workspace_id, taskId, LARGE_EVENTS],
  );
}

/** Opens a stream and never reads from it. */
async function openSilently({ url, token, metrics }: RunningServer): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  socket.on('error', () => undefined);
  await waitFor('both are open', async () => (await metrics.eventStreams.get()).values[0]?.value === 2);
  return socket;
}
