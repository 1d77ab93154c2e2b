import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MUST_HAPPEN } from './facts.js';
import { imagine } from './imagine.js';
import { sequences } from './sequences.js';

const SAMPLED = { numRuns: 2_000, seed: 1 };
/** Of a thousand sequences; the least that makes a fact sure to come about in a run of a thousand, whatever its seed. */
const OFTEN = 25;

test.each([1, 3])('of 1,000 sequences with at most %s commands at once, 25 bring about each fact that a long run must see', (atOnce) => {
  const seen = fc.sample(sequences(atOnce), SAMPLED).map(imagine);
  const often = (fact: string) => (seen.filter((facts) => facts.has(fact)).length / SAMPLED.numRuns) * 1_000;
  expect(MUST_HAPPEN.map((fact) => ({ fact, often: often(fact) })).filter((one) => one.often < OFTEN)).toEqual([]);
});
