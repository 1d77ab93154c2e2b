import type { Cut } from './cut.js';

/** Time and chance as parameters, so that every wait and jitter is decided by the caller. */
export interface LoopClock {
  /** Milliseconds that only grow. */
  now(): number;
  /** Runs `then` once after `milliseconds`; the returned function takes that back. */
  after(milliseconds: number, then: () => void): () => void;
  /** A number in [0, 1). */
  random(): number;
}

export const systemClock: LoopClock = {
  now: () => performance.now(),
  random: () => Math.random(),
  after: (milliseconds, then) => {
    const timer = setTimeout(then, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Waits, or goes on at once when the run is cut. */
export async function pause(clock: LoopClock, milliseconds: number, cut: Cut): Promise<void> {
  if (cut.by !== null) return;
  const over = Promise.withResolvers<void>();
  const cancel = clock.after(milliseconds, over.resolve);
  const release = cut.onCut(over.resolve);
  await over.promise;
  cancel();
  release();
}
