import { setTimeout as sleep } from 'node:timers/promises';

export interface BatchOptions {
  /** Items of one batch at most. */
  readonly most: number;
  /** How long the first item of a batch waits for others; what comes while a batch is under way waits for its end anyway. */
  readonly gatherMs: number;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly settle: (done: boolean) => void;
}

/** Does for many at once what is asked for one by one: one batch at a time, in the order of asking. */
export class Batches<Item> {
  #waiting: Waiting<Item>[] = [];
  #running = false;

  /** `onBatch` may fail; then its items are given up, which must be harmless. */
  constructor(
    private readonly options: BatchOptions,
    private readonly onBatch: (items: readonly Item[]) => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Resolves when the item's batch is over; tells whether it was done. */
  add(item: Item): Promise<boolean> {
    return new Promise((settle) => {
      this.#waiting.push({ item, settle });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      if (this.options.gatherMs > 0) await sleep(this.options.gatherMs);
      const batch = this.#waiting.splice(0, this.options.most);
      const done = await this.#try(batch.map(({ item }) => item));
      for (const { settle } of batch) settle(done);
    }
    this.#running = false;
  }

  async #try(items: readonly Item[]): Promise<boolean> {
    try {
      await this.onBatch(items);
      return true;
    } catch (error) {
      this.onError(error);
      return false;
    }
  }
}
