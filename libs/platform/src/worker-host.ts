/**
 * The running side of one process: presence, slots, the queue's consumer and the sweep, opened and closed together (K12, K23, K24).
 */
import { hostname } from 'node:os';
import type { JobQueue } from '@echelon/messaging';
import {
  type AgentRuntime,
  type Logger,
  type Relay,
  type Sequencer,
  SessionRunner,
  Sweeper,
  type Transactions,
} from '@echelon/orchestration';
import {
  type Database,
  newId,
  PRESENCE_TIMES,
  type Presence,
  type PresenceListener,
  readMinimumWorker,
  registerWorker,
  removeWorker,
  takePresence,
  touchWorker,
} from '@echelon/persistence';

/** Rises when a worker of an older build may no longer claim (operations.md, Upgrades). */
const WORKER_BUILD = 1;

const HAND_OVER_MS = 25_000;
const FETCHED_RECENTLY_MS = 15_000;
const TOUCH_MS = 5_000;

export interface WorkerHostOptions {
  readonly url: string;
  readonly database: Database;
  readonly transactions: Transactions;
  readonly queue: JobQueue;
  readonly relay: Relay;
  readonly sequencer: Sequencer;
  readonly runtime: AgentRuntime;
  readonly slots: number;
  readonly log: Logger;
  /** The presence is lost for good: what runs here was ended without a write, and this worker must not go on. */
  readonly onLost: () => void;
}

export interface WorkerHost {
  /** A worker counts as alive only if it fetched recently (architecture.md §4.7). */
  fetchedRecently(): boolean;
  /** Hands running turns over and stops, within 30 s. */
  close(): Promise<void>;
}

/** Starts the worker. Rejects when its build is too old for the database. */
export async function startWorkerHost(options: WorkerHostOptions): Promise<WorkerHost> {
  const minimum = await readMinimumWorker(options.database);
  if (WORKER_BUILD < minimum) throw new Error(`This worker is of build ${WORKER_BUILD}; the database wants ${minimum} or newer.`);
  const listener: { current: PresenceListener | null } = { current: null };
  const presence = await takePresence(options.url, {
    renewed: (leases) => listener.current?.renewed(leases),
    lost: () => {
      listener.current?.lost();
      options.onLost();
    },
  });
  try {
    const id = newId();
    const { database, slots } = options;
    await registerWorker(database, { id, presence: presence.number, host: hostname(), pid: process.pid, build: WORKER_BUILD, slots });
    const runner = createRunner(options, { id, presence });
    listener.current = runner;
    return host(options, { id, presence, runner });
  } catch (error) {
    await presence.close();
    throw error;
  }
}

interface Worker {
  readonly id: string;
  readonly presence: Presence;
  readonly runner: SessionRunner;
}

function createRunner({ transactions, runtime, slots, log }: WorkerHostOptions, { id, presence }: Omit<Worker, 'runner'>): SessionRunner {
  return new SessionRunner({
    transactions,
    runtimes: { loop: runtime },
    holder: { owner: `worker:${id}`, presence: presence.number, leaseMs: PRESENCE_TIMES.leaseMs },
    slots,
    onHeld: (sessions) => presence.hold(sessions),
    onError: (error, about) => log.error({ error, ...about }, 'turn.broken'),
  });
}

function host(options: WorkerHostOptions, { id, presence, runner }: Worker): WorkerHost {
  const { database, queue, relay, log, slots } = options;
  const consumer = queue.work({
    concurrency: slots,
    handle: (job) => runner.run(job.sessionId),
    onError: (error) => log.warn({ error }, 'queue.error'),
  });
  relay.offerDirectClaims((sessionId) => runner.offer(sessionId));
  const sweeper = new Sweeper({ ...options, elected: () => presence.elected(), oldestWaitMs: () => oldestWait(queue) });
  sweeper.start();
  const fetchedRecently = (): boolean => Date.now() - (consumer.lastFetchedAt() ?? 0) < FETCHED_RECENTLY_MS;
  const touch = async (): Promise<void> => {
    if (fetchedRecently()) await touchWorker(database, id).catch((error: unknown) => log.warn({ error }, 'worker.touch_failed'));
  };
  const touching = setInterval(() => void touch(), TOUCH_MS);
  return {
    fetchedRecently,
    close: async () => {
      clearInterval(touching);
      relay.offerDirectClaims(null);
      try {
        await consumer.pause();
        await runner.handOver();
        await consumer.close({ graceMs: HAND_OVER_MS });
        await sweeper.stop();
        await removeWorker(database, id);
      } finally {
        await presence.close();
      }
    },
  };
}

async function oldestWait(queue: JobQueue): Promise<number> {
  const health = await queue.health();
  return health.reachable ? health.oldestWaitMs : 0;
}
