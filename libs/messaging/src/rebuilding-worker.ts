import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IQueueBackend, Job as BullmqJob } from 'bullmq';
import type { BullmqBackend, WakeUp } from './bullmq-backend.js';
import { BullmqFetcher } from './bullmq-fetcher.js';
import { settlesWithin, withDeadline } from './deadline.js';
import type { QueueWorker, WorkOptions } from './job-queue.js';

const WATCH_MS = 500;
const PING_MS = 2_000;
/** One late answer is a busy machine, a starting one above all; this many in a row are an outage. */
const MISSED_PINGS = 3;
const DEFAULT_REBUILD_AFTER_MS = 5_000;
/** What handlers get to react to their signal, and BullMQ to record what was done. */
const LAST_WAIT_MS = 1_000;

export interface RebuildingWorkerOptions<B extends IQueueBackend, Connection> {
  readonly backend: BullmqBackend<B, Connection>;
  readonly queueName: string;
  readonly lockMs: number;
  readonly work: WorkOptions;
}

/** One BullMQ worker and the handlers that it started. */
interface Generation<B extends IQueueBackend, Connection> {
  readonly fetcher: BullmqFetcher<B, Connection>;
  readonly handlers: Set<Promise<void>>;
}

/**
 * A worker that starts when the backend comes and replaces its BullMQ worker when that stopped fetching (bullmq#4585).
 *
 * R1  A free slot, an answering backend and no fetch for `rebuildAfterMs` since both: the BullMQ worker is stuck, a new one takes over.
 * R2  The handlers of a replaced worker run on; together all generations never run more than `concurrency` handlers, or one each.
 */
export class RebuildingWorker<B extends IQueueBackend, Connection> implements QueueWorker {
  readonly #options: RebuildingWorkerOptions<B, Connection>;
  readonly #generations = new Set<Generation<B, Connection>>();
  readonly #retired = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #watchAbort = new AbortController();
  readonly #watching: Promise<void>;
  #current: Generation<B, Connection> | null = null;
  #builtAt = 0;
  #fetchedAt: number | null = null;
  #reachableSince: number | null = null;
  readonly #reported = new Set<string>();
  #missedPings = 0;
  #paused = false;
  #closing: Promise<void> | null = null;

  constructor(options: RebuildingWorkerOptions<B, Connection>) {
    this.#options = options;
    setMaxListeners(0, this.#abort.signal);
    this.#watching = this.#watch();
  }

  lastFetchedAt(): number | null {
    return this.#isFull() ? Date.now() : this.#fetchedAt;
  }

  running(): number {
    let count = 0;
    for (const generation of this.#generations) count += generation.handlers.size;
    return count;
  }

  async pause(): Promise<void> {
    this.#paused = true;
    await this.#current?.fetcher.pause(true);
  }

  close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#closing ??= this.#shutDown(graceMs);
    return this.#closing;
  }

  async #shutDown(graceMs: number): Promise<void> {
    this.#watchAbort.abort();
    await this.#watching;
    const generations = [...this.#generations];
    const stopped = Promise.all(generations.map((generation) => generation.fetcher.close()));
    const handled = Promise.all(generations.flatMap((generation) => [...generation.handlers]));
    if (!(await settlesWithin(handled, graceMs))) {
      this.#abort.abort(new Error('the worker is closed'));
      await settlesWithin(handled, LAST_WAIT_MS);
    }
    if (await settlesWithin(stopped, LAST_WAIT_MS)) return;
    await settlesWithin(Promise.all(generations.map((generation) => generation.fetcher.disconnect())), LAST_WAIT_MS);
  }

  async #watch(): Promise<void> {
    const { signal } = this.#watchAbort;
    while (!signal.aborted) {
      if (!this.#paused) await this.#rebuildIfStuck();
      await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #rebuildIfStuck(): Promise<void> {
    const { rebuildAfterMs = DEFAULT_REBUILD_AFTER_MS } = this.#options.work;
    if (this.#current !== null && this.#silentMs() <= rebuildAfterMs / 2) {
      this.#reachableSince = null;
      return;
    }
    if (!(await this.#isReachable())) {
      this.#reachableSince = null;
      return;
    }
    this.#reachableSince ??= Date.now();
    if (this.#watchAbort.signal.aborted) return;
    if (this.#current === null) this.#build();
    else if (Math.min(this.#silentMs(), Date.now() - this.#reachableSince) > rebuildAfterMs) this.#rebuild(this.#current);
  }

  #isFull(): boolean {
    return this.running() >= this.#options.work.concurrency;
  }

  /** For how long a free slot has fetched nothing. */
  #silentMs(): number {
    if (this.#isFull()) return 0;
    return Date.now() - Math.max(this.#fetchedAt ?? 0, this.#builtAt);
  }

  async #isReachable(): Promise<boolean> {
    try {
      await withDeadline(this.#options.backend.ping(), PING_MS);
      this.#missedPings = 0;
      return true;
    } catch (error) {
      this.#missedPings += 1;
      if (this.#missedPings >= MISSED_PINGS) this.#report(error);
      return false;
    }
  }

  #rebuild(stuck: Generation<B, Connection>): void {
    this.#report(new Error('the worker fetched nothing from a reachable queue and is rebuilt'));
    this.#build();
    const retiring = this.#retire(stuck).finally(() => this.#retired.delete(retiring));
    this.#retired.add(retiring);
  }

  /** Lets the handlers of a stuck generation end, however long they take, and then drops it. */
  async #retire(stuck: Generation<B, Connection>): Promise<void> {
    const stopped = stuck.fetcher.close();
    await Promise.all(stuck.handlers);
    if (!(await settlesWithin(stopped, LAST_WAIT_MS))) await settlesWithin(stuck.fetcher.disconnect(), LAST_WAIT_MS);
    this.#generations.delete(stuck);
  }

  #build(): void {
    const { backend, queueName, lockMs } = this.#options;
    const handlers = new Set<Promise<void>>();
    const fetcher = new BullmqFetcher(
      {
        queueName,
        lockMs,
        connection: backend.consumer,
        concurrency: this.#freeSlots(),
        process: (job) => this.#track(handlers, job),
        onFetched: () => this.#noteFetch(),
        onError: (error) => this.#report(error),
      },
      backend.createBackend,
    );
    this.#current = { fetcher, handlers };
    this.#generations.add(this.#current);
    this.#builtAt = Date.now();
    fetcher.run().catch((error: unknown) => this.#report(error));
  }

  async #track(handlers: Set<Promise<void>>, job: BullmqJob<WakeUp>): Promise<void> {
    const handling = this.#handle(job);
    const ended = handling.catch(() => undefined);
    handlers.add(ended);
    try {
      await handling;
    } finally {
      if (this.#isFull()) this.#fetchedAt = Date.now();
      handlers.delete(ended);
      if (this.#current !== null) this.#current.fetcher.concurrency = this.#freeSlots(this.#current);
    }
  }

  async #handle(job: BullmqJob<WakeUp>): Promise<void> {
    if (this.#closing !== null) throw new Error('the worker is closing');
    const { id = '', opts, data } = job;
    try {
      await this.#options.work.handle({ id, sessionId: data.sessionId, priority: opts.priority ?? 0 }, this.#abort.signal);
    } catch (error) {
      this.#options.work.onError(toError(error));
      throw error;
    }
  }

  /** How many handlers a generation may run beside those of the others (R2). */
  #freeSlots(generation?: Generation<B, Connection>): number {
    const elsewhere = this.running() - (generation?.handlers.size ?? 0);
    return Math.max(1, this.#options.work.concurrency - elsewhere);
  }

  #noteFetch(): void {
    this.#fetchedAt = Date.now();
    this.#reported.clear();
  }

  /** An outage says the same thing several times a second; once is enough, until something was fetched again. */
  #report(failure: unknown): void {
    const error = toError(failure);
    if (this.#closing !== null || this.#reported.has(error.message)) return;
    this.#reported.add(error.message);
    this.#options.work.onError(error);
  }
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
