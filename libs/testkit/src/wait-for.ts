import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL_MS = 20;
const DEADLINE_SECONDS = 20;

/** Asks until the answer is neither undefined, null nor false, and returns it; gives up after `seconds`, naming what it waited for. */
export async function waitFor<T>(
  fact: string,
  ask: () => T | Promise<T>,
  seconds = DEADLINE_SECONDS,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer as Exclude<T, undefined | null | false>;
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s in vain: ${fact}`);
    await sleep(INTERVAL_MS);
  }
}
