import type { LoopClock } from '../clock.js';

interface Timer {
  readonly at: number;
  readonly then: () => void;
}

/** A clock that stands still. Waits up to `skipUpTo` milliseconds pass at once; longer ones wait for `advance`. */
export class ManualClock implements LoopClock {
  /** Milliseconds of every wait that was asked for. */
  readonly waits: number[] = [];
  private readonly timers = new Set<Timer>();
  private time = 0;

  constructor(private readonly options: { readonly skipUpTo?: number; readonly random?: number } = {}) {}

  now(): number {
    return this.time;
  }

  random(): number {
    return this.options.random ?? 0;
  }

  after(milliseconds: number, then: () => void): () => void {
    this.waits.push(milliseconds);
    const timer: Timer = { at: this.time + milliseconds, then };
    this.timers.add(timer);
    if (milliseconds <= (this.options.skipUpTo ?? 0)) queueMicrotask(() => this.fire(timer, timer.at));
    return () => void this.timers.delete(timer);
  }

  advance(milliseconds: number): void {
    this.time += milliseconds;
    for (const timer of [...this.timers]) if (timer.at <= this.time) this.fire(timer, this.time);
  }

  private fire(timer: Timer, now: number): void {
    if (!this.timers.delete(timer)) return;
    this.time = Math.max(this.time, now);
    timer.then();
  }
}
