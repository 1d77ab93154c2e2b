/** `npm run test:model -- --runs 10000` sets the variables that this file reads. */
import { expect, test } from '@jest/globals';
import { MUST_HAPPEN } from './facts.js';
import { runSequences } from './run-sequences.js';

const { ECHELON_MODEL_RUNS, ECHELON_MODEL_SEED, ECHELON_MODEL_PATH, ECHELON_MODEL_AT_ONCE } = process.env;
const runs = Number(ECHELON_MODEL_RUNS ?? 2_000);
const seed = Number(ECHELON_MODEL_SEED ?? Date.now() % 1_000_000_000);
const path = ECHELON_MODEL_PATH;
const LANES = 3;
/** Enough for every fact to have come about. */
const ENOUGH = 1_000;
const RAREST = 40;

const modes = ([1, 3] as const).filter((atOnce) => ECHELON_MODEL_AT_ONCE === undefined || Number(ECHELON_MODEL_AT_ONCE) === atOnce);

test.each(modes)(
  `${runs} sequences from seed ${seed}, of at most %s commands at once, end as the model ends`,
  async (atOnce) => {
    const { commands, sequences } = await runSequences({ runs: runs / modes.length, atOnce, seed, path, lanes: LANES });
    const seen = MUST_HAPPEN.map((fact) => ({ fact, times: sequences.get(fact) ?? 0 })).toSorted((a, b) => a.times - b.times);
    const rarest = seen.slice(0, RAREST).map(({ fact, times }) => `${fact} in ${times}`);
    process.stderr.write(`${runs / modes.length} sequences, ${commands} commands; rarest: ${rarest.join(', ')}\n`);
    if (path === undefined && runs / modes.length >= ENOUGH) expect(seen.filter(({ times }) => times === 0)).toEqual([]);
  },
  3_600_000,
);
