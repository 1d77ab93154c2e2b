import { test } from '@jest/globals';
import fc from 'fast-check';
import { checkTurn, randomTurn } from './testing/random-turn.js';

test('five thousand random turns: one result per call, order kept, no effect twice [G5.20][G7.7]', async () => {
  await fc.assert(fc.asyncProperty(randomTurn, checkTurn), { numRuns: 5_000 });
}, 300_000);
