/** What may cut a wait or a stream short. */
export interface CutSignals {
  /** The loop's own signal: cancelled. */
  readonly loop: AbortSignal;
  /** The process ends: handed over. */
  readonly handOver?: AbortSignal | undefined;
  /** Some other signal merged in: the round ends as if the model had made no calls. */
  readonly merged?: AbortSignal | undefined;
}

export type CutBy = keyof CutSignals;

const ORDER: readonly CutBy[] = ['loop', 'handOver', 'merged'];

/** Several signals as one, for the length of a run: rounds listen here, which is cheaper than listening to each signal. */
export class Cut {
  private readonly listeners = new Set<() => void>();

  constructor(private readonly signals: CutSignals) {
    for (const name of ORDER) signals[name]?.addEventListener('abort', this.tell);
  }

  /** Which signal cut; `null` while none did. */
  get by(): CutBy | null {
    for (const name of ORDER) if (this.signals[name]?.aborted === true) return name;
    return null;
  }

  /** Calls `listener` when a signal aborts from now on; the returned function ends that. */
  onCut(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    for (const name of ORDER) this.signals[name]?.removeEventListener('abort', this.tell);
  }

  private readonly tell = (): void => {
    for (const listener of [...this.listeners]) listener();
  };
}
