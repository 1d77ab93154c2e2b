import type { BackendFactory, IQueueBackend } from 'bullmq';

/** What differs between BullMQ on Postgres and on Redis; everything else is shared. */
export interface BullmqBackend<B extends IQueueBackend, Connection> {
  readonly createBackend: BackendFactory<B, Connection>;
  /** What the producer talks through: fails fast, buffers nothing. */
  readonly producer: Connection;
  /** What every worker talks through: waits out an outage. */
  readonly consumer: Connection;
  /** Resolves when the backend answers and holds BullMQ's schema, rejects within seconds otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** Separates queues that share a backend; letters, digits, `_` and `-`, at most 40. Default `main`. */
  readonly namespace?: string;
  /**
   * How long BullMQ considers a job of a silent worker as running; default 60,000 ms. Generous, because an event loop may stall for
   * seconds and recovery does not depend on it: the session's own lease decides (K24).
   */
  readonly lockMs?: number;
}

export interface WakeUp {
  readonly sessionId: string;
}

const NAMESPACE = /^[\w-]{1,40}$/;
const ROOT_ID = /^[\da-f-]{36}$/;

/** The name in the backend of the queue for any worker, or of a workspace root's; throws a RangeError for what is no namespace or root. */
export function queueName(namespace = 'main', rootId?: string): string {
  if (!NAMESPACE.test(namespace)) throw new RangeError(`not a queue namespace: ${namespace}`);
  if (rootId === undefined) return `${namespace}-wake-ups`;
  if (!ROOT_ID.test(rootId)) throw new RangeError(`not a workspace root: ${rootId}`);
  return `${namespace}-wake-ups-${rootId}`;
}

/** One prefix in braces keeps all keys of the queue in one slot of a Redis Cluster. */
export const KEY_PREFIX = '{echelon}';

/** Jobs leave no trace: history is in our own tables, and kept jobs make every completion dearer. */
export const JOB_OPTIONS = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 500 },
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 1,
} as const;

/** BullMQ writes an event row per step of a job, which nobody reads. */
export const EVENTS_KEPT = { events: { maxLen: 500 } } as const;

export const DEFAULT_LOCK_MS = 60_000;
