/** What the specs of the job queue's port share: its two backends, queues that are closed after each test, and workers that note their jobs. */
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import {
  createPostgresJobQueue,
  createRedisJobQueue,
  type Job,
  type JobQueue,
  type QueueWorker,
  type WorkOptions,
} from '@echelon/messaging';
import { createTestDatabase, startTestRedis, waitFor } from '@echelon/testkit';

/** One backend of the port, started for a spec. */
export interface QueueBackend {
  readonly url: string;
  /** The name of the factory and of its address option, for a program of its own. */
  readonly factory: readonly [string, string];
  open(options: { readonly url: string; readonly namespace: string; readonly lockMs?: number }): JobQueue;
  stop(): Promise<void>;
}

export async function startPostgresQueues(): Promise<QueueBackend> {
  const database = await createTestDatabase({ empty: true });
  await makeTables(database.url);
  return {
    url: database.url,
    factory: ['createPostgresJobQueue', 'connectionString'],
    open: ({ url, ...options }) => createPostgresJobQueue({ connectionString: url, ...options }),
    stop: () => database.drop(),
  };
}

/** Making the tables may take longer than a call waits for its answer. */
async function makeTables(connectionString: string): Promise<void> {
  const queue = createPostgresJobQueue({ connectionString, namespace: 'spec-tables' });
  await waitFor('the queue answers', async () => (await queue.health()).reachable);
  await queue.close();
}

export async function startRedisQueues(): Promise<QueueBackend> {
  const redis = await startTestRedis();
  return { url: redis.url, factory: ['createRedisJobQueue', 'url'], open: createRedisJobQueue, stop: () => redis.stop() };
}

/** Starts the backend for the tests of a block; each test has a namespace of its own, and its queues are closed after it. */
export function useJobQueues(start: () => Promise<QueueBackend>) {
  let backend: QueueBackend;
  let queues: JobQueue[] = [];
  let namespaces = 0;
  const namespace = () => `spec-${String(namespaces)}`;
  beforeAll(async () => {
    backend = await start();
  });
  afterAll(() => backend.stop());
  beforeEach(() => {
    namespaces += 1;
  });
  afterEach(async () => {
    await Promise.all(queues.map((queue) => queue.close()));
    queues = [];
  });
  const open = (url = backend.url, lockMs = 60_000): JobQueue => {
    const queue = backend.open({ url, namespace: namespace(), lockMs });
    queues.push(queue);
    return queue;
  };
  return { backend: () => backend, namespace, open };
}

/** The n-th job, of a session of its own unless one is given. */
export const job = (number: number, sessionId = `session-${String(number)}`): Job => ({
  id: `o-${String(number)}`,
  sessionId,
  priority: 0,
});

/** Starts a worker that does nothing unless told otherwise. */
export function work(queue: JobQueue, options: Partial<WorkOptions> = {}): QueueWorker {
  return queue.work({ concurrency: 1, handle: () => Promise.resolve(), onError: () => undefined, ...options });
}

/** A worker that notes what it gets; with `hold` its handlers end only after `release`. */
export function collect(
  queue: JobQueue,
  { hold = false, concurrency = 1, rootId }: { readonly hold?: boolean; readonly concurrency?: number; readonly rootId?: string } = {},
) {
  const jobs: Job[] = [];
  const signals: AbortSignal[] = [];
  const errors: Error[] = [];
  const released = Promise.withResolvers<void>();
  if (!hold) released.resolve();
  const worker = work(queue, {
    concurrency,
    ...(rootId ? { rootId } : {}),
    rebuildAfterMs: 3_000,
    handle: (received, signal) => {
      jobs.push(received);
      signals.push(signal);
      return released.promise;
    },
    onError: (error) => errors.push(error),
  });
  return { jobs, signals, errors, worker, release: released.resolve };
}
