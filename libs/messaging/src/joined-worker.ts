import type { QueueWorker } from './job-queue.js';
import type { Beside } from './rebuilding-worker.js';

/** A worker of one queue that shares its concurrency with others. */
interface SharingWorker extends QueueWorker {
  /** Fits its concurrency to what runs in the others. */
  fit(): void;
}

/** One process's consumer of several queues: one concurrency for all of them, alive while each of them is fetched from. */
export class JoinedWorker implements QueueWorker {
  readonly #workers: readonly SharingWorker[];

  constructor(starts: readonly ((beside: Beside) => SharingWorker)[]) {
    const workers: SharingWorker[] = [];
    for (const [index, start] of starts.entries()) {
      const others = () => workers.filter((_, position) => position !== index);
      workers.push(start({ running: () => countRunning(others()), changed: () => others().forEach((worker) => worker.fit()) }));
    }
    this.#workers = workers;
  }

  async pause(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.pause()));
  }

  async close(options: { readonly graceMs: number }): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close(options)));
  }

  lastFetchedAt(): number | null {
    const times = this.#workers.map((worker) => worker.lastFetchedAt());
    return times.reduce((oldest, time) => (oldest === null || time === null ? null : Math.min(oldest, time)));
  }

  running(): number {
    return countRunning(this.#workers);
  }
}

function countRunning(workers: readonly QueueWorker[]): number {
  return workers.reduce((sum, worker) => sum + worker.running(), 0);
}
