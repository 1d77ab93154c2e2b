import { describe, expect, test } from '@jest/globals';
import type { Mutation } from './core.js';
import { exploreProtocol, type Fault } from './protocol-model.js';

/** No crash, no lost queue, no expiry and no sweep to help: the wake-ups alone must do. */
const FAIR_WEATHER: readonly Fault[] = ['operator_prompt', 'parent_archived', 'sibling_message'];
const WITHOUT_SWEEP: readonly Mutation[] = ['no-rebuild'];

describe('the protocol holds in every interleaving', () => {
  test('in fair weather no wake-up needs the sweep [K1] [K2] [K5] [K10]', () => {
    expect(exploreProtocol({ faults: FAIR_WEATHER, mutations: WITHOUT_SWEEP })).toMatchObject({ states: 11_418, violation: null });
  });

  test.each<readonly [Fault, Fault, Fault]>([
    ['crash', 'queue_lost', 'lease_expired'],
    ['crash', 'queue_lost', 'operator_prompt'],
    ['queue_lost', 'parent_archived', 'sibling_message'],
  ])('under %s, %s and %s [K1] [K3] [K4] [K7] [K8] [K10]', (...faults) => {
    expect(exploreProtocol({ faults }).violation).toBeNull();
  });
});

describe('each rule is needed', () => {
  test('without K1 an entry lies undelivered [K1]', () => {
    expectViolation('no-outbox', [], 'child is quiet with an undelivered entry', WITHOUT_SWEEP);
  });

  test('with job ids made of the session a wake-up is swallowed by a finishing job [K2]', () => {
    expectViolation('job-id-session', [], 'is quiet with an undelivered entry', WITHOUT_SWEEP);
  });

  test('a claim that ignores leases takes a live one [K3]', () => {
    expectViolation('claim-ignores-lease', ['queue_lost', 'operator_prompt'], 'a live lease was taken');
  });

  test('without the fence a worker writes after its lease [K4]', () => {
    expectViolation('no-fence', ['lease_expired'], 'a write without the lease');
  });

  test('without the drain an entry that came during the turn lies undelivered [K5]', () => {
    expectViolation('no-drain', ['sibling_message'], 'child is quiet with an undelivered entry', WITHOUT_SWEEP);
  });

  test('without the gate an ordinary entry overtakes the decision [K6]', () => {
    expectViolation('no-gate', ['sibling_message'], 'an ordinary entry overtook the decision');
  });

  test('settling by the status of the question moves the workflow after a fast answer [K6b]', () => {
    expectViolation('settle-by-status', [], 'the workflow moved on a turn that ended by asking');
  });

  test('an ask that is not idempotent asks twice after a crash [K7]', () => {
    expectViolation('ask-not-idempotent', ['crash'], 'two questions for one ask');
  });

  test('an answer that is not conditional is accepted twice [K8]', () => {
    expectViolation('answer-not-conditional', [], 'two answers accepted');
  });

  test('a stale question without a notice leaves the child waiting [K9]', () => {
    expectViolation('stale-without-notice', ['parent_archived'], 'the question is stale and the child was not told');
  });

  test('without the sweep a dead worker keeps its lease [K10]', () => {
    expectViolation('no-sweep', ['crash'], 'child is quiet with a lease');
  });

  test('without the rebuild a lost queue is never made up for [K10]', () => {
    expectViolation('no-rebuild', ['queue_lost'], 'child is quiet with an undelivered entry');
  });
});

function expectViolation(mutation: Mutation, faults: readonly Fault[], fact: string, more: readonly Mutation[] = []): void {
  const { violation } = exploreProtocol({ faults, mutations: [mutation, ...more] });
  expect(violation?.facts.join()).toContain(fact);
}
