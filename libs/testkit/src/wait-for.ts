import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL_MS = 20;
const DEADLINE_MS = 20_000;

/** Asks until the answer is neither undefined, null nor false, and returns it; gives up after 20 s, naming what it waited for. */
export async function waitFor<T>(fact: string, ask: () => T | Promise<T>): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer as Exclude<T, undefined | null | false>;
    if (performance.now() > deadline) throw new Error(`waited ${DEADLINE_MS / 1000} s in vain: ${fact}`);
    await sleep(INTERVAL_MS);
  }
}
