/** Tells a screen that there is something else to be seen; it then looks for itself. */
export class Changes {
  private readonly listeners = new Set<() => void>();
  private count = 0;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Grows with every change. */
  readonly version = (): number => this.count;

  readonly announce = (): void => {
    this.count++;
    for (const listener of this.listeners) listener();
  };
}
