/** Runs random sequences, several lanes side by side, each with a database of its own. */
import fc from 'fast-check';
import { openFaulty } from '../support/faulty-database.js';
import { World } from '../support/world.js';
import { play, type Tally } from './play.js';
import { sequences } from './sequences.js';

export interface SequencesOptions {
  readonly runs: number;
  /** Commands of a step at most; 1 is one after the other. */
  readonly atOnce: 1 | 3;
  readonly seed: number;
  /** Plays one failed sequence again, as fast-check names it. */
  readonly path?: string | undefined;
  readonly lanes?: number;
  /** Statements that the product leaves out; the first sequence that shows it is not made shorter. */
  readonly fault?: RegExp;
}

/** Runs them; fails with the shortest sequence in which product and model part, and with what plays it again. */
export async function runSequences({ lanes = 1, ...options }: SequencesOptions): Promise<Tally> {
  const tally: Tally = { commands: 0, sequences: new Map() };
  const { runs, seed, path } = options;
  const each = Math.ceil(runs / lanes);
  await Promise.all(
    Array.from({ length: path === undefined ? lanes : 1 }, (_, lane) => runLane({ ...options, runs: each, seed: seed + lane }, tally)),
  );
  return tally;
}

async function runLane({ runs, atOnce, seed, path, fault }: SequencesOptions, tally: Tally): Promise<void> {
  const world = await World.open();
  const faulty = fault && openFaulty(world.url, fault);
  const played = faulty ? world.through(faulty) : world;
  try {
    const property = fc.asyncProperty(sequences(atOnce), (steps) => play(played, steps, tally));
    const found = await fc.check(property, {
      numRuns: runs,
      seed,
      endOnFailure: faulty !== undefined,
      ...(path === undefined ? {} : { path }),
    });
    if (!found.failed) return;
    const again = `npm run test:model -- --at-once ${atOnce} --seed ${found.seed} --path ${found.counterexamplePath}`;
    throw new Error(`after ${found.numRuns} sequences and ${found.numShrinks} shrinks; again: ${again}`, { cause: found.errorInstance });
  } finally {
    await faulty?.close();
    await world.close();
  }
}
