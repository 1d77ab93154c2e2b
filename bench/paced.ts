import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './clock.js';

export interface Pace {
  /** Time from one start to the next; `null`: the next starts when everything rests. */
  readonly everyMs: number | null;
  rest(): Promise<void>;
}

/** Does the same thing `count` times at a pace; at a fixed rate none waits for the one before. */
export async function paced<T>(count: number, { everyMs, rest }: Pace, act: (number: number) => Promise<T>): Promise<readonly T[]> {
  const startedAt = now();
  const acts: Promise<T>[] = [];
  for (let number = 0; number < count; number++) {
    if (everyMs !== null) await sleep(Math.max(0, startedAt + number * everyMs - now()));
    const one = act(number);
    acts.push(one);
    if (everyMs === null) await one.then(rest);
  }
  return Promise.all(acts);
}
