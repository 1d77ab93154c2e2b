import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase, waitFor } from '@echelon/testkit';
import { createPostgresBackend, type PgPool, type PostgresConnectionOptions, type PostgresQueueBackend } from 'bullmq';
import type { BullmqBackend } from './bullmq-backend.js';
import { BullmqJobQueue } from './bullmq-job-queue.js';
import { PostgresBackend } from './postgres-job-queue.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(() => database.drop());

/** Postgres, whose first worker hears nothing more once `deafen` is called: bullmq#4585 at will. */
class DeafBackend extends PostgresBackend implements BullmqBackend<PostgresQueueBackend, PostgresConnectionOptions> {
  workers = 0;
  #isDeaf = false;

  deafen(): void {
    this.#isDeaf = true;
  }

  override readonly createBackend: typeof createPostgresBackend = (name, options, role) => {
    const backend = createPostgresBackend(name, options, role);
    if (role?.withBlockingConnection !== true) return backend;
    this.workers += 1;
    if (this.workers > 1) return backend;
    const { moveToActive } = backend;
    backend.moveToActive = (...args) => (this.#isDeaf ? new Promise(() => undefined) : moveToActive.apply(backend, args));
    return backend;
  };
}

test('a worker that fetches nothing from a reachable queue is replaced, and its handler runs on [K24]', async () => {
  const backend = new DeafBackend({ connectionString: database.url });
  const queue = new BullmqJobQueue<PostgresQueueBackend, PgPool>(backend, {});
  const handled: string[] = [];
  const errors: string[] = [];
  const first = Promise.withResolvers<void>();
  const worker = queue.work({
    concurrency: 2,
    rebuildAfterMs: 500,
    handle: async ({ id }) => {
      if (id === 'o-1') await first.promise;
      handled.push(id);
    },
    onError: ({ message }) => errors.push(message),
  });
  await queue.enqueue([{ id: 'o-1', sessionId: 'session-1', priority: 0 }]);
  await waitFor('the first handler', () => worker.running() === 1);
  backend.deafen();
  await waitFor('a second worker', () => backend.workers === 2);
  await queue.enqueue([{ id: 'o-2', sessionId: 'session-2', priority: 0 }]);
  await waitFor('the second job', () => handled.includes('o-2'));
  expect(worker.running()).toBe(1);
  first.resolve();
  await waitFor('the end of the first handler', () => handled.includes('o-1'));
  expect(errors).toContain('the worker fetched nothing from a reachable queue and is rebuilt');
  await queue.close();
});

test('a queue that answers late is no failure; one that does not answer again and again is told once', async () => {
  let pings = 0;
  class SlowBackend extends PostgresBackend {
    late = 2;
    override async ping(): Promise<void> {
      pings += 1;
      if (pings <= this.late) throw new Error('no answer');
      return super.ping();
    }
  }
  const errors: string[] = [];
  const work = { concurrency: 1, handle: () => Promise.resolve(), onError: ({ message }: Error) => void errors.push(message) };
  const slow = new SlowBackend({ connectionString: database.url });
  const queue = new BullmqJobQueue<PostgresQueueBackend, PgPool>(slow, {});
  queue.work(work);
  await waitFor('an answer', () => pings > slow.late);
  expect(errors).toEqual([]);
  await queue.close();
  pings = 0;
  const gone = new SlowBackend({ connectionString: database.url });
  gone.late = 4;
  const other = new BullmqJobQueue<PostgresQueueBackend, PgPool>(gone, {});
  other.work(work);
  await waitFor('an answer at last', () => pings > gone.late);
  expect(errors).toEqual(['no answer']);
  await other.close();
});
