import { describe, expect, test } from '@jest/globals';
import { CHAIN_FAULTS, type ChainOptions, exploreChain } from './chain-model.js';
import type { Mutation } from './core.js';

const WITHOUT_SWEEP: readonly Mutation[] = ['no-rebuild'];

describe('a question of the fourth level and its answer', () => {
  test('go up and down in every interleaving without any sweep, one turn a level and answer [R14] [R15] [K5] [K10]', () => {
    expect(exploreChain({ faults: [], family: 'chain', workers: 2, mutations: WITHOUT_SWEEP }).violation).toBeNull();
  });

  test.each(CHAIN_FAULTS)('arrive once under %s [K3] [K8] [K10] [R15]', (fault) => {
    expect(exploreChain({ faults: [fault], family: 'chain', workers: 2 }).violation).toBeNull();
  });

  test('never change places with those of a second child, whatever the operator writes [K6] [R14] [S7]', () => {
    expect(exploreChain({ faults: ['operator_prompt'], family: 'twins', workers: 1, mutations: WITHOUT_SWEEP }).violation).toBeNull();
  });
});

describe('each rule of the chain is needed', () => {
  test('a hop that is recorded under the newest question answers another child [R14]', () => {
    expectViolation('cause-by-newest', { faults: [], family: 'twins', workers: 1 }, 'a hop was recorded under another question');
  });

  test('an archived task whose own question stays pending gets an answer [S3]', () => {
    expectViolation('stale-on-one-side', { faults: ['lead_archived'], family: 'chain', workers: 2 }, 'an entry for lead, which is gone');
  });

  test('without a notice the levels below an archived task wait for nobody [K9] [S4]', () => {
    expectViolation('stale-without-notice', { faults: ['lead_archived'], family: 'chain', workers: 2 }, 'the child waits for nobody');
  });

  test('without a reminder a parent that was told something else forgets its child [S7]', () => {
    expectViolation('no-reminder', { faults: ['operator_prompt'], family: 'chain', workers: 2 }, 'the child waits for nobody');
  });

  test('an entry that outlives its question opens a turn for nothing [S9]', () => {
    expectViolation(
      'entry-outlives-question',
      { faults: ['operator_prompt'], family: 'chain', workers: 2 },
      'a turn was opened for a question that is over',
    );
  });

  test('without the gate the second child overtakes the decision in the middle of the chain [K6]', () => {
    expectViolation('no-gate', { faults: [], family: 'twins', workers: 1 }, 'an ordinary entry overtook the decision');
  });

  test('an answer that is not conditional is accepted twice after a reminder [K8]', () => {
    expectViolation('answer-not-conditional', { faults: ['operator_prompt'], family: 'chain', workers: 2 }, 'two answers accepted');
  });
});

function expectViolation(mutation: Mutation, options: ChainOptions, fact: string): void {
  const { violation } = exploreChain({ ...options, mutations: [mutation, ...WITHOUT_SWEEP] });
  expect(violation?.facts.join()).toContain(fact);
}
