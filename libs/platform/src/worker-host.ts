/**
 * The running side of one process: presence, slots, the queue's consumer and the sweep, opened and closed together (K12, K23, K24).
 */
import { hostname } from 'node:os';
import type { Retention } from '@echelon/domain';
import type { JobQueue } from '@echelon/messaging';
import {
  type Logger,
  type Relay,
  type Sequencer,
  SessionRunner,
  type SessionRunnerOptions,
  Sweeper,
  type Transactions,
} from '@echelon/orchestration';
import {
  announceUnreached,
  type Database,
  listReachedRoots,
  newId,
  PRESENCE_TIMES,
  type Presence,
  type PresenceListener,
  readMinimumWorker,
  registerRoot,
  registerWorker,
  removeWorker,
  takePresence,
  touchWorker,
  type WorkspaceRoot,
} from '@echelon/persistence';
import { createTaskFolders } from './task-folders.js';

/** Rises when a worker of an older build may no longer claim (operations.md, Upgrades). */
const WORKER_BUILD = 3;

const FETCHED_RECENTLY_MS = 15_000;
const HEARTBEAT_MS = 5_000;

/** The database asks for a newer build; `message` is one sentence. */
export class WorkerTooOldError extends Error {
  override readonly name = 'WorkerTooOldError';

  constructor(minimum: number) {
    super(`This worker is of build ${WORKER_BUILD}; the database wants ${minimum} or newer: start the newer version.`);
  }
}

export interface WorkerHostOptions {
  readonly url: string;
  readonly database: Database;
  readonly transactions: Transactions;
  readonly queue: JobQueue;
  readonly relay: Relay;
  readonly sequencer: Sequencer;
  readonly runtimes: SessionRunnerOptions['runtimes'];
  /** The workspace root that this process reaches: it runs what lies there, and places new folders there. */
  readonly root: WorkspaceRoot;
  readonly slots: number;
  /** What commands may still use once this process hands over (K23). */
  readonly handOverMs: number;
  readonly log: Logger;
  readonly heartbeatMs?: number;
  /** Days that things are kept; the defaults where absent. */
  readonly retention?: Retention;
  /**
   * This worker must not go on, and is to be closed: its presence is lost for good, and what ran here was ended without a write; or
   * its build became too old, and closing hands over what runs.
   */
  readonly onLost: () => void;
}

export interface WorkerHost {
  /** A worker counts as alive only if it fetched recently (architecture.md §4.7). */
  fetchedRecently(): boolean;
  /** Hands running turns over and stops, within 5 s more than commands may still use. */
  close(): Promise<void>;
}

/** Starts the worker. Rejects with `WorkerTooOldError` when its build is too old for the database. */
export async function startWorkerHost(options: WorkerHostOptions): Promise<WorkerHost> {
  const minimum = await readMinimumWorker(options.database);
  if (WORKER_BUILD < minimum) throw new WorkerTooOldError(minimum);
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
    await register(options, { id, presence });
    const runner = createRunner(options, { id, presence });
    listener.current = runner;
    return host(options, { id, presence, runner });
  } catch (error) {
    await presence.close();
    throw error;
  }
}

/** Notes the worker and its root; what nobody could run there until now is announced with that. */
function register({ database, root, slots }: WorkerHostOptions, { id, presence }: Omit<Worker, 'runner'>): Promise<void> {
  return database.transaction(async (tx) => {
    registerRoot(tx, root);
    announceUnreached(tx, root.id);
    const about = { host: hostname(), pid: process.pid, build: WORKER_BUILD, slots };
    await registerWorker(tx, { id, presence: presence.number, rootId: root.id, ...about });
  });
}

interface Worker {
  readonly id: string;
  readonly presence: Presence;
  readonly runner: SessionRunner;
}

function createRunner(
  { transactions, runtimes, root, slots, log }: WorkerHostOptions,
  { id, presence }: Omit<Worker, 'runner'>,
): SessionRunner {
  return new SessionRunner({
    transactions,
    runtimes,
    claimer: { owner: `worker:${id}`, presence: presence.number, leaseMs: PRESENCE_TIMES.leaseMs, rootId: root.id },
    slots,
    onHeld: (sessions) => presence.hold(sessions),
    onError: (error, about) => log.error({ error, ...about }, 'turn.broken'),
  });
}

function host(options: WorkerHostOptions, { id, presence, runner }: Worker): WorkerHost {
  const { database, queue, relay, root, log, slots } = options;
  const consumer = queue.work({
    concurrency: slots,
    rootId: root.id,
    handle: (job) => runner.run(job.sessionId),
    onError: (error) => log.warn({ error }, 'queue.error'),
  });
  relay.offerDirectClaims({ rootId: root.id, claim: (sessionId) => runner.offer(sessionId) });
  relay.sweep(0).catch((error: unknown) => log.warn({ error }, 'announcement.deferred'));
  const sweeper = new Sweeper({
    ...options,
    folders: createTaskFolders(root),
    elected: () => presence.elected(),
    oldestWaitMs: () => oldestWait(queue, database),
  });
  sweeper.start();
  const fetchedRecently = (): boolean => Date.now() - (consumer.lastFetchedAt() ?? 0) < FETCHED_RECENTLY_MS;
  const beat = async (): Promise<void> => {
    if (fetchedRecently()) await touchWorker(database, id);
    const minimum = await readMinimumWorker(database);
    if (WORKER_BUILD >= minimum) return;
    clearInterval(beating);
    log.error({ build: WORKER_BUILD, minimum }, 'worker.too_old');
    options.onLost();
  };
  const failed = (error: unknown): void => log.warn({ error }, 'worker.heartbeat_failed');
  const beating = setInterval(() => void beat().catch(failed), options.heartbeatMs ?? HEARTBEAT_MS);
  return {
    fetchedRecently,
    close: async () => {
      clearInterval(beating);
      relay.offerDirectClaims(null);
      try {
        await consumer.pause();
        await runner.handOver();
        await consumer.close({ graceMs: options.handOverMs });
        await sweeper.stop();
        await removeWorker(database, id);
      } finally {
        await presence.close();
      }
    },
  };
}

/** What waits where nobody comes for it is no backlog. */
async function oldestWait(queue: JobQueue, database: Database): Promise<number> {
  const health = await queue.health(await listReachedRoots(database));
  return health.reachable ? health.oldestWaitMs : 0;
}
