/** Time and chance as parameters, so that every wait and jitter is decided by the caller. */
export interface LoopClock {
  /** Milliseconds that only grow. */
  now(): number;
  /** Resolves after `milliseconds`, or at once when `signal` aborts; never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
}

export const systemClock: LoopClock = {
  now: () => performance.now(),
  random: () => Math.random(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(done, milliseconds);
      signal.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
    }),
};
