/** Runs random sequences, several lanes side by side, each with a database of its own. */
import fc from 'fast-check';
import { World } from '../support/world.js';
import { sequences } from './draw.js';
import { play, type Tally } from './play.js';

export interface SequencesOptions {
  readonly runs: number;
  /** Commands of a step at most; 1 is one after the other. */
  readonly atOnce: 1 | 3;
  readonly seed: number;
  /** Plays one failed sequence again, as fast-check names it. */
  readonly path?: string | undefined;
  readonly lanes?: number;
}

/** Runs them; fails with the shortest sequence in which product and model part, and with what plays it again. */
export async function runSequences({ runs, atOnce, seed, path, lanes = 1 }: SequencesOptions): Promise<Tally> {
  const tally: Tally = { outcomes: new Map(), facts: new Set() };
  const each = Math.ceil(runs / lanes);
  await Promise.all(
    Array.from({ length: path === undefined ? lanes : 1 }, (_, lane) => runLane({ runs: each, atOnce, seed: seed + lane, path }, tally)),
  );
  return tally;
}

async function runLane({ runs, atOnce, seed, path }: SequencesOptions, tally: Tally): Promise<void> {
  const world = await World.open();
  try {
    const property = fc.asyncProperty(sequences(atOnce), (steps) => play(world, steps, tally));
    const found = await fc.check(property, { numRuns: runs, seed, ...(path === undefined ? {} : { path }) });
    if (!found.failed) return;
    const again = `npm run test:model -- --at-once ${atOnce} --seed ${found.seed} --path ${found.counterexamplePath}`;
    throw new Error(`after ${found.numRuns} sequences and ${found.numShrinks} shrinks; again: ${again}`, { cause: found.errorInstance });
  } finally {
    await world.close();
  }
}
