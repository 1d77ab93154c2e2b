import type { QueueWorker } from './job-queue.js';

/** One process's consumer of several queues, each with its whole concurrency: a full queue never keeps another from being fetched. */
export class JoinedWorker implements QueueWorker {
  constructor(private readonly workers: readonly QueueWorker[]) {}

  async pause(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.pause()));
  }

  async close(options: { readonly graceMs: number }): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close(options)));
  }

  /** Of the queue that was asked longest ago: one that is not fetched from is as bad as none. */
  lastFetchedAt(): number | null {
    const times = this.workers.map((worker) => worker.lastFetchedAt());
    return times.reduce((oldest, time) => (oldest === null || time === null ? null : Math.min(oldest, time)));
  }

  running(): number {
    return this.workers.reduce((sum, worker) => sum + worker.running(), 0);
  }
}
