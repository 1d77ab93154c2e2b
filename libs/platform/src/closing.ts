/** What was opened is closed in reverse; one failure does not keep the rest open. */
export class Closing {
  readonly #steps: (() => Promise<void>)[] = [];

  add<T>(opened: T, close: (opened: T) => Promise<void>): T {
    this.#steps.push(() => close(opened));
    return opened;
  }

  /** Closes everything once; rejects with the first failure when all is done. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      await step().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}
