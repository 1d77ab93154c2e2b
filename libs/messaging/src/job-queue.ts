/**
 * The port that carries wake-ups: "look at this session" (protocol.md K1, K2, K14, K24).
 *
 * Q1  A job says nothing but "look at this session"; rows say what there is to do. Losing every job loses nothing.
 * Q2  A job's id belongs to one announcement and is never derived from the session, so a finishing job swallows no successor.
 * Q3  Delivery is at least once and in no order beyond priority; a handler does nothing when there is nothing to do.
 * Q4  A job of a workspace root is fetched only by workers that reach that root; while there is none it waits.
 * Q5  A producer never waits for a broken backend: `enqueue` rejects within seconds and buffers nothing.
 */

/** One wake-up. */
export interface Job {
  /** `o-` and the outbox row's id (K2); unique per announcement, without a colon. */
  readonly id: string;
  readonly sessionId: string;
  /** 0 is fetched first, larger numbers later; an integer up to 2,000,000. */
  readonly priority: number;
  /** The workspace root whose workers are to look, a UUID; any worker may where it is absent. */
  readonly rootId?: string;
}

export interface WorkOptions {
  /** How many handlers run at once, for the jobs for any worker and again for those of the root; at least 1. */
  readonly concurrency: number;
  /** The workspace root whose jobs are fetched beside those for any worker. */
  readonly rootId?: string;
  /**
   * Looks at the job's session. A rejection has the job delivered again, a few times and ever later; what it resolves to is not kept.
   * `signal` aborts when the worker is closed and its grace is over.
   */
  readonly handle: (job: Job, signal: AbortSignal) => Promise<void>;
  /** Hears what went wrong outside of handlers (backend down, worker rebuilt) and every handler's rejection; only for logs and metrics. */
  readonly onError: (error: Error) => void;
  /** A reachable backend from which nothing was fetched for so long has its worker rebuilt (bullmq#4585); default 5,000 ms. */
  readonly rebuildAfterMs?: number;
}

/** One process's consumer. */
export interface QueueWorker {
  /** Fetches no further job; handlers that run go on. Resolves at once. */
  pause(): Promise<void>;
  /**
   * Stops fetching, waits up to `graceMs` for running handlers, then aborts their signals and waits one second more. Never rejects.
   * A job whose handler is still running is delivered again later, to another worker.
   */
  close(options: { readonly graceMs: number }): Promise<void>;
  /**
   * When this worker last asked the backend for a job and got an answer, in epoch ms of this process's clock; now while every slot is
   * taken and there is no reason to ask; null before the first answer. An idle worker asks every two seconds.
   */
  lastFetchedAt(): number | null;
  /** Handlers running now. */
  running(): number;
}

export type QueueHealth =
  | {
      readonly reachable: true;
      /** Jobs that no worker has fetched yet. */
      readonly waiting: number;
      /** Age of the oldest of them; 0 when none waits. K10's sweep spaces its repeats by it. */
      readonly oldestWaitMs: number;
    }
  | { readonly reachable: false; readonly reason: string };

export interface JobQueue {
  /**
   * Adds the jobs, in bulk. An id that is waiting, delayed or active already is left as it is. Rejects with `QueueUnavailableError`
   * within three seconds while the backend is down; then any part of the jobs may have been added.
   */
  enqueue(jobs: readonly Job[]): Promise<void>;
  /** Starts a consumer at once, even while the backend is down: it begins to fetch when the backend comes. */
  work(options: WorkOptions): QueueWorker;
  /** Asks the backend about the jobs for any worker and those of the given roots; answers within three seconds and never rejects. */
  health(rootIds?: readonly string[]): Promise<QueueHealth>;
  /** Closes the producer and every worker that is still open, without grace. */
  close(): Promise<void>;
}

/** The backend did not take the jobs; the rows still announce them (Q1). */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}
