import { expect, test } from '@jest/globals';
import { exploreChain } from './chain-model.js';
import type { Mutation } from './core.js';

const TWINS = { faults: ['operator_prompt'], family: 'twins', workers: 2 } as const;
const WITHOUT_SWEEP: readonly Mutation[] = ['no-rebuild'];

test('two children that ask at once get their own answers on two workers, whatever the operator writes [K6] [R6] [R14] [S7]', () => {
  expect(exploreChain({ ...TWINS, mutations: WITHOUT_SWEEP })).toMatchObject({ states: 440_994, violation: null });
}, 600_000);

test('an answer that names no question decides the next one of the same child [R6] [R7]', () => {
  const { violation } = exploreChain({ ...TWINS, mutations: ['answer-by-session', ...WITHOUT_SWEEP] });
  expect(violation?.facts).toContain('a late answer decided another question');
}, 600_000);
