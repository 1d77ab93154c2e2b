import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Job, type JobQueue, QueueUnavailableError } from '@echelon/messaging';
import { ROOT } from '../../../test/support/reached-root.js';
import { World } from '../../../test/support/world.js';
import { Relay } from './relay.js';
import { Transactions } from './unit-of-work.js';
import { enqueue } from './session-queue.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** A queue that keeps its jobs, and can be down: the port's other side. */
class KeepingQueue implements JobQueue {
  readonly jobs: Job[] = [];
  down = false;

  enqueue(jobs: readonly Job[]): Promise<void> {
    if (this.down) return Promise.reject(new QueueUnavailableError('down'));
    this.jobs.push(...jobs);
    return Promise.resolve();
  }

  work(): never {
    throw new Error('nobody works here');
  }

  health() {
    return Promise.resolve({ reachable: true, waiting: 0, oldestWaitMs: 0 } as const);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function build() {
  const queue = new KeepingQueue();
  const errors: unknown[] = [];
  const relay = new Relay(
    world.database,
    queue,
    () => undefined,
    (error) => void errors.push(error),
  );
  const transactions = new Transactions(world.database, relay);
  const prompt = (sessionId: string) =>
    transactions.run((unit) => enqueue(unit, { sessionId, rank: 3, kind: 'prompt', text: 'Go.', senderKind: 'operator' }));
  return { queue, relay, errors, prompt };
}

function outbox(sessionId: string) {
  return world.rows<{ id: string }>('SELECT id FROM outbox WHERE session_id = $1', [sessionId]);
}

test('after the commit the job has the row’s id, and the row is gone [K2, K14]', async () => {
  const { queue, relay, prompt } = build();
  const task = await world.task();
  await prompt(task.sessionId);
  await relay.idle();
  expect(queue.jobs).toMatchObject([{ sessionId: task.sessionId, id: expect.stringMatching(/^o-[0-9a-f-]{36}$/) as unknown }]);
  expect(await outbox(task.sessionId)).toEqual([]);
});

test('a free slot of this process claims without the queue [K14]', async () => {
  const { queue, relay, prompt } = build();
  const task = await world.task();
  relay.offerDirectClaims({ rootId: ROOT.id, claim: (sessionId) => Promise.resolve(sessionId === task.sessionId) });
  await prompt(task.sessionId);
  await relay.idle();
  expect(queue.jobs).toEqual([]);
  expect(await outbox(task.sessionId)).toEqual([]);
});

test('a write is accepted while the queue is down, and the sweep hands it on later [K1, K14, O29]', async () => {
  const { queue, relay, errors, prompt } = build();
  const task = await world.task();
  queue.down = true;
  await prompt(task.sessionId);
  await relay.idle();
  expect(errors).toHaveLength(1);
  const [row] = await outbox(task.sessionId);
  queue.down = false;
  await world.rows(`UPDATE outbox SET created_at = created_at - interval '1 minute' WHERE session_id = $1`, [task.sessionId]);
  expect(await relay.sweep()).toBe(1);
  expect(queue.jobs.map(({ id }) => id)).toEqual([`o-${row?.id}`]);
  expect(await outbox(task.sessionId)).toEqual([]);
});
