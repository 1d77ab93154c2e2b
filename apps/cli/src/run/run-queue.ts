/** What a run is still to do, in the order in which it was asked. */
export type Work = { readonly kind: 'message'; readonly text: string } | { readonly kind: 'continue' };

export class RunQueue {
  private waiting: readonly Work[] = [];
  private ended = false;
  private wake: () => void = () => undefined;

  get size(): number {
    return this.waiting.length;
  }

  /** Messages among it. */
  get messages(): number {
    return this.waiting.filter(({ kind }) => kind === 'message').length;
  }

  add(work: Work): void {
    this.waiting = [...this.waiting, work];
    this.wake();
  }

  /** Nothing more will come. */
  end(): void {
    this.ended = true;
    this.wake();
  }

  /** The next, once there is one; `null` when none will come, or the signal aborts. */
  async next(signal: AbortSignal): Promise<Work | null> {
    while (!signal.aborted) {
      const [first, ...rest] = this.waiting;
      if (first !== undefined) {
        this.waiting = rest;
        return first;
      }
      if (this.ended) return null;
      await this.change(signal);
    }
    return null;
  }

  private async change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.wake = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }
}
