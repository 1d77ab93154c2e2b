import type { LoopClock } from '../clock.js';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A clock that stands still. Sleeps up to `skipUpTo` milliseconds pass at once; longer ones wait for `advance`. */
export class ManualClock implements LoopClock {
  /** Milliseconds of every sleep that was asked for. */
  readonly sleeps: number[] = [];
  private readonly sleepers = new Set<Sleeper>();
  private time = 0;

  constructor(private readonly options: { readonly skipUpTo?: number; readonly random?: number } = {}) {}

  now(): number {
    return this.time;
  }

  random(): number {
    return this.options.random ?? 0;
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    this.sleeps.push(milliseconds);
    if (signal.aborted) return Promise.resolve();
    if (milliseconds <= (this.options.skipUpTo ?? 0)) {
      this.time += milliseconds;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const sleeper: Sleeper = { until: this.time + milliseconds, wake: () => this.wake(sleeper, resolve) };
      this.sleepers.add(sleeper);
      signal.addEventListener('abort', sleeper.wake, { once: true });
    });
  }

  /** How many sleeps wait. */
  get waiting(): number {
    return this.sleepers.size;
  }

  advance(milliseconds: number): void {
    this.time += milliseconds;
    for (const sleeper of [...this.sleepers]) if (sleeper.until <= this.time) sleeper.wake();
  }

  private wake(sleeper: Sleeper, resolve: () => void): void {
    this.sleepers.delete(sleeper);
    resolve();
  }
}
