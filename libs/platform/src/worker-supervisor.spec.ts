import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createPostgresEventBus, createPostgresJobQueue, type EventBus, type JobQueue } from '@echelon/messaging';
import { type AgentRuntime, Relay, Sequencer, Transactions } from '@echelon/orchestration';
import { createPool, Database } from '@echelon/persistence';
import { startFaultProxy, waitFor } from '@echelon/testkit';
import { ROOT } from '../../../test/support/reached-root.js';
import { World } from '../../../test/support/world.js';
import { WorkerTooOldError } from './worker-host.js';
import { type SupervisedWorker, superviseWorker } from './worker-supervisor.js';

const COMPLETED = { stop: { reason: 'completed' }, record: () => Promise.resolve() } as const;
const ignore = () => undefined;

let world: World;
let queue: JobQueue;
let bus: EventBus;
let worker: SupervisedWorker | null;
let logged: { readonly event: string; readonly facts: object }[];
let ran: string[];

beforeAll(async () => {
  world = await World.open();
  queue = createPostgresJobQueue({ connectionString: world.url });
  bus = createPostgresEventBus({ connectionString: world.url, namespace: 'spec' });
  await waitFor('the queue answers', async () => (await queue.health()).reachable);
});
afterAll(async () => {
  await queue.close();
  await bus.close();
  await world.close();
});
beforeEach(() => {
  worker = null;
  logged = [];
  ran = [];
});
afterEach(async () => {
  await worker?.close();
  await world.rows(`DELETE FROM setting WHERE key = 'schema.min_worker'`);
});

/** Each turn ends at once, or at the hand-over when its session is named. */
function agent(untilHandOver: string | null = null): AgentRuntime {
  return {
    run: async ({ session }, { handOver }) => {
      ran.push(session.id);
      if (session.id !== untilHandOver) return COMPLETED;
      if (!handOver.aborted) await new Promise((resolve) => handOver.addEventListener('abort', resolve, { once: true }));
      return { stop: { reason: 'handed_over' }, record: () => Promise.resolve() };
    },
  };
}

async function start(runtime = agent(), { url, database }: Pick<World, 'url' | 'database'> = world): Promise<SupervisedWorker> {
  const log = (facts: object, event: string): void => void logged.push({ event, facts });
  const relay = new Relay(database, queue, ignore, ignore);
  worker = await superviseWorker({
    root: ROOT,
    url,
    database,
    transactions: new Transactions(database, relay),
    queue,
    relay,
    sequencer: new Sequencer(database, bus, ignore),
    runtimes: { loop: runtime },
    slots: 2,
    handOverMs: 1_000,
    log: { info: log, warn: log, error: log },
    heartbeatMs: 20,
  });
  return worker;
}

async function askFor(build: number): Promise<void> {
  await world.rows(
    `INSERT INTO setting (key, value) VALUES ('schema.min_worker', to_jsonb($1::int)) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`,
    [build],
  );
}

describe('a worker whose build is too old for the database', () => {
  test('is every build that does not know all runtimes: the schema asks for the one after', async () => {
    const fresh = await World.open();
    expect(await fresh.rows(`SELECT value FROM setting WHERE key = 'schema.min_worker'`)).toEqual([{ value: 3 }]);
    await fresh.close();
  });

  test('does not start, and says why in a sentence', async () => {
    await askFor(4);
    await expect(start()).rejects.toThrow(new WorkerTooOldError(4));
  });

  test('stops claiming while it runs, hands its turns over, and says so in log and health [O10]', async () => {
    const { sessionId } = await world.task();
    await world.prompt(sessionId);
    const supervised = await start(agent(sessionId));
    await queue.enqueue([{ id: 'o-1', sessionId, priority: 0 }]);
    await waitFor('the turn runs', () => ran.includes(sessionId));
    expect(supervised.obstacle()).toBeNull();
    await askFor(4);
    await waitFor('the worker is refused', () => supervised.obstacle() === new WorkerTooOldError(4).message);
    expect(logged).toContainEqual({ event: 'worker.too_old', facts: { build: 3, minimum: 4 } });
    expect(logged.filter(({ event }) => event === 'worker.cannot_start')).toHaveLength(1);
    expect(supervised.fetchedRecently()).toBe(false);
    expect(await world.sessionRow(sessionId)).toMatchObject({ lease_owner: null, runnable: true });
    expect(await world.rows('SELECT id FROM worker WHERE slots > 0')).toEqual([]);
  });

  test('works again when the database asks for it no longer', async () => {
    const supervised = await start();
    await askFor(4);
    await waitFor('the worker stops', () => supervised.obstacle() !== null);
    await askFor(1);
    await waitFor('the worker works again', () => supervised.obstacle() === null);
    const { sessionId } = await world.task();
    await world.prompt(sessionId);
    await queue.enqueue([{ id: 'o-2', sessionId, priority: 0 }]);
    await waitFor('the turn runs', () => ran.includes(sessionId));
  });
});

test('without its database a worker ends what it runs, and takes it up again by itself when the database is back [O28]', async () => {
  const proxy = await startFaultProxy({ port: Number(new URL(world.url).port) });
  const url = proxy.through(world.url);
  const database = new Database(createPool(url, { max: 4 }));
  const { sessionId } = await world.task();
  await world.prompt(sessionId);
  const ends: string[] = [];
  const runtime: AgentRuntime = {
    run: async ({ session }, { lost }) => {
      ran.push(session.id);
      if (ran.length > 1) return COMPLETED;
      await new Promise((resolve) => lost.addEventListener('abort', resolve, { once: true }));
      ends.push('lost');
      return { stop: { reason: 'cancelled', by: 'signal' }, record: () => Promise.resolve() };
    },
  };
  const supervised = await start(runtime, { url, database });
  await queue.enqueue([{ id: 'o-3', sessionId, priority: 0 }]);
  await waitFor('the turn runs', () => ran.length === 1);
  proxy.cut();
  await waitFor('the turn has ended here', () => ends.length === 1);
  await waitFor('the worker says so', () => supervised.obstacle() !== null);
  expect(await world.rows(`SELECT status FROM turn WHERE session_id = $1`, [sessionId])).not.toContainEqual({ status: 'finished' });
  proxy.resume();
  const finished = () => world.rows(`SELECT outcome FROM turn WHERE session_id = $1 AND status = 'finished'`, [sessionId]);
  await waitFor('the turn is finished', async () => (await finished()).length === 1, 30);
  expect(await finished()).toEqual([{ outcome: 'completed' }]);
  expect([ran, supervised.obstacle()]).toEqual([[sessionId, sessionId], null]);
  await worker?.close();
  worker = null;
  await database.close();
  await proxy.close();
});
