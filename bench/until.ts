import { setTimeout as sleep } from 'node:timers/promises';

/** Asks every few milliseconds until the answer is true. */
export async function until(ask: () => Promise<boolean>, everyMs = 10): Promise<void> {
  do await sleep(everyMs);
  while (!(await ask()));
}
