import { expect, test } from '@jest/globals';
import type { Mutation } from './core.js';
import { exploreParking } from './park-model.js';

const WITHOUT_SWEEP: readonly Mutation[] = ['no-rebuild'];

test('a decision during parking wakes the turn without any sweep [K13]', () => {
  expect(exploreParking({ canCrash: false, mutations: WITHOUT_SWEEP }).violation).toBeNull();
});

test('a worker that dies while it parks loses nothing [K10] [K13]', () => {
  expect(exploreParking({ canCrash: true }).violation).toBeNull();
});

test('parking on what was read before the lock sleeps through the decision [K13]', () => {
  expectViolation('park-blind', 'child is quiet with an open turn');
});

test('a decider that takes no lock announces nothing to a turn that parks meanwhile [K13]', () => {
  expectViolation('decide-without-lock', 'child is quiet with an open turn');
});

test('a turn that goes on at the first of two decisions is not ready [K13]', () => {
  expectViolation('resume-on-first-decision', 'a parked turn went on before its waits were decided');
});

function expectViolation(mutation: Mutation, fact: string): void {
  const { violation } = exploreParking({ canCrash: false, mutations: [mutation, ...WITHOUT_SWEEP] });
  expect(violation?.facts.join()).toContain(fact);
}
