import { setTimeout as sleep } from 'node:timers/promises';

/** Whether the work settles, well or badly, within so many milliseconds. The work itself goes on. */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const settled = work.then(
    () => true,
    () => true,
  );
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  const inTime = await Promise.race([settled, late]);
  timer.abort();
  return inTime;
}

/** The work's result, or a rejection when it takes longer than so many milliseconds. */
export async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  if (!(await settlesWithin(work, ms))) throw new Error(`no answer within ${String(ms)} ms`);
  return work;
}
