/** Chance with a seed: the same seed gives the same choices, although not the same interleaving. */
import { setTimeout as sleep } from 'node:timers/promises';

export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0 to `below` - 1. */
  upTo(below: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * below);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.upTo(items.length)]!;
  }

  /** Lets a moment pass: none at all in every third case, else up to what a settlement takes. */
  async moment(): Promise<void> {
    if (this.upTo(3) > 0) await sleep(this.upTo(8));
  }
}
