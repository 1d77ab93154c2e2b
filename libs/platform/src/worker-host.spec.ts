import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPostgresEventBus, createPostgresJobQueue, type EventBus, type JobQueue } from '@echelon/messaging';
import { type AgentRuntime, Relay, Sequencer, Transactions } from '@echelon/orchestration';
import { waitFor } from '@echelon/testkit';
import { ROOT } from '../../../test/support/reached-root.js';
import { World } from '../../../test/support/world.js';
import { startWorkerHost, type WorkerHost } from './worker-host.js';

const ignore = () => undefined;

let world: World;
let queue: JobQueue;
let bus: EventBus;
let relay: Relay;

beforeAll(async () => {
  world = await World.open();
  queue = createPostgresJobQueue({ connectionString: world.url });
  bus = createPostgresEventBus({ connectionString: world.url, namespace: 'spec' });
  relay = new Relay(world.database, queue, ignore, ignore);
  await waitFor('the queue answers', async () => (await queue.health()).reachable);
});
afterAll(async () => {
  await queue.close();
  await bus.close();
  await world.close();
});

/** Runs each turn until its worker hands over. */
function agent(ran: string[]): AgentRuntime {
  return {
    run: async ({ session }, { handOver }) => {
      ran.push(session.id);
      if (!handOver.aborted) await new Promise((resolve) => handOver.addEventListener('abort', resolve, { once: true }));
      return { stop: { reason: 'handed_over' }, record: () => Promise.resolve() };
    },
  };
}

function start(ran: string[]): Promise<WorkerHost> {
  return startWorkerHost({
    root: ROOT,
    url: world.url,
    database: world.database,
    transactions: new Transactions(world.database, relay),
    queue,
    relay,
    sequencer: new Sequencer(world.database, bus, ignore),
    runtimes: { loop: agent(ran) },
    slots: 2,
    handOverMs: 1_000,
    log: { info: ignore, warn: ignore, error: ignore },
    onLost: ignore,
  });
}

const workers = () => world.rows<{ presence: string }>('SELECT presence FROM worker WHERE slots > 0');
const turns = (sessionId: string) => world.rows('SELECT number, status FROM turn WHERE session_id = $1', [sessionId]);

test('a worker that closes hands its turn over, is registered no more, and takes nothing new; the next one goes on [K23]', async () => {
  const [first, second]: [string[], string[]] = [[], []];
  const [busy, idle] = [await world.task(), await world.task()];
  await world.prompt(busy.sessionId);
  const leaving = await start(first);
  expect(await workers()).toHaveLength(1);
  await queue.enqueue([{ id: 'o-1', sessionId: busy.sessionId, priority: 0 }]);
  await waitFor('the turn runs', () => first.length === 1);

  await leaving.close();
  expect(await world.sessionRow(busy.sessionId)).toMatchObject({ lease_owner: null, runnable: true });
  expect(await turns(busy.sessionId)).toEqual([{ number: 1, status: expect.not.stringMatching('finished') }]);
  expect(await workers()).toEqual([]);
  await world.prompt(idle.sessionId);
  await queue.enqueue([{ id: 'o-2', sessionId: idle.sessionId, priority: 0 }]);

  const next = await start(second);
  await waitFor('both run', () => second.length === 2);
  await next.close();
  expect([first, second.toSorted()]).toEqual([[busy.sessionId], [busy.sessionId, idle.sessionId].toSorted()]);
  expect(await turns(busy.sessionId)).toHaveLength(1);
});
