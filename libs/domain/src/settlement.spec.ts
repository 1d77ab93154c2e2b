import { describe, expect, test } from '@jest/globals';
import {
  endStep,
  NO_STEP,
  type Reach,
  reachesFamily,
  type SettlementFacts,
  settleTurn,
  type StepEnd,
  type StepEndFacts,
} from '@echelon/domain';

const FACTS: SettlementFacts = {
  outcome: 'completed',
  step: 'stays',
  questionPending: false,
  hasParent: true,
  next: { do: 'nothing', because: 'empty' },
  otherSessionActive: false,
  yieldToOthers: false,
};
const REACH: Reach = { outcome: 'completed', asked: false, signalled: false, moveAsked: false, step: NO_STEP, hasParent: true };
const NEXT = { do: 'open', entryId: 'e' } as const;

const OUTCOMES = ['completed', 'completed_empty', 'tool_ended_turn', 'stopped', 'interrupted', 'error', 'turn_cap'] as const;
const BOTH = [false, true];

/** Every end that a turn can come to. */
function* everyEnd(): Generator<Reach> {
  for (const outcome of OUTCOMES)
    for (const asked of BOTH)
      for (const signalled of BOTH)
        for (const moveAsked of BOTH)
          for (const isLast of BOTH)
            for (const requiresSignal of BOTH)
              for (const hasParent of BOTH)
                yield { outcome, asked, signalled, moveAsked, step: { isLast, requiresSignal, movesTo: null }, hasParent };
}

function stepOf(end: Reach, more: Partial<StepEndFacts> = {}): StepEnd {
  return endStep({ ...end, questionPending: false, isPrimary: true, childrenOpen: false, ...more });
}

test('an end that completes the task or alerts the parent is known to reach them before anything is locked [K11]', () => {
  for (const end of everyEnd()) {
    const { completesTask, alertsParent } = settleTurn({ ...FACTS, ...end, step: stepOf(end) });
    if (completesTask || alertsParent) expect({ end, reaches: reachesFamily(end) }).toEqual({ end, reaches: true });
  }
});

test('an ordinary end, and one with a question, reach nobody else', () => {
  expect(reachesFamily(REACH)).toBe(false);
  expect(reachesFamily({ ...REACH, outcome: 'stopped', signalled: true })).toBe(false);
  expect(reachesFamily({ ...REACH, outcome: 'tool_ended_turn', asked: true, signalled: true })).toBe(false);
});

describe('settling a turn', () => {
  test('an ordinary end rests the session and the task', () => {
    expect(settleTurn(FACTS)).toEqual({
      session: 'rest',
      task: 'rest',
      completesTask: false,
      drains: null,
      announces: false,
      alertsParent: false,
    });
  });

  test('the next entry is drained under the same lease [K5]', () => {
    expect(settleTurn({ ...FACTS, next: NEXT })).toMatchObject({ session: 'start', task: null, drains: 'e', announces: false });
  });

  test('a session yields when others wait, and is announced [K24]', () => {
    expect(settleTurn({ ...FACTS, next: NEXT, yieldToOthers: true })).toMatchObject({ session: 'rest', drains: null, announces: true });
  });

  test('a turn that asked waits, and its signal does not count [A17, K6b]', () => {
    const asked = { ...REACH, outcome: 'tool_ended_turn', asked: true, signalled: true } as const;
    const settled = settleTurn({ ...FACTS, outcome: 'tool_ended_turn', step: stepOf(asked), questionPending: true });
    expect(settled).toMatchObject({ session: 'wait', task: 'wait', completesTask: false, alertsParent: false });
  });

  test('a turn that asked counts as asked although its question was answered meanwhile [K6b]', () => {
    const step = stepOf({ ...REACH, asked: true, signalled: true });
    expect(settleTurn({ ...FACTS, step, next: NEXT })).toMatchObject({ completesTask: false, drains: 'e' });
  });

  test('a completion signal on the last step completes the task, whatever else is queued', () => {
    expect(settleTurn({ ...FACTS, step: stepOf({ ...REACH, signalled: true }), next: NEXT })).toMatchObject({
      session: 'complete',
      task: 'complete',
      completesTask: true,
      drains: null,
    });
  });

  test.each([
    ['not the last step', { step: { ...NO_STEP, isLast: false } }],
    ['a turn that ended badly', { outcome: 'error' }],
    ['a turn that was stopped', { outcome: 'stopped' }],
    ['a turn that was cancelled', { outcome: 'cancelled' }],
  ] as const)('a signal does not complete the task on %s', (_case, change) => {
    const end = { ...REACH, signalled: true, ...change };
    expect(settleTurn({ ...FACTS, outcome: end.outcome, step: stepOf(end) })).toMatchObject({ completesTask: false, task: 'rest' });
  });

  test('another session that works keeps the task where it is', () => {
    expect(settleTurn({ ...FACTS, otherSessionActive: true }).task).toBeNull();
  });

  test.each([
    'error',
    'interrupted',
    'output_limit',
    'loop_detected',
    'budget_exhausted',
    'content_filtered',
    'tool_format',
    'turn_cap',
  ] as const)('%s alerts the parent', (outcome) => {
    expect(settleTurn({ ...FACTS, outcome }).alertsParent).toBe(true);
    expect(settleTurn({ ...FACTS, outcome, hasParent: false }).alertsParent).toBe(false);
  });

  test.each(['completed', 'completed_empty', 'stopped', 'tool_ended_turn'] as const)('%s does not', (outcome) => {
    expect(settleTurn({ ...FACTS, outcome }).alertsParent).toBe(false);
  });

  test('a missing signal alerts the parent, also where the session goes on: its next turn may be stopped, and then nobody else tells', () => {
    expect(settleTurn({ ...FACTS, step: 'misses_signal' }).alertsParent).toBe(true);
    expect(settleTurn({ ...FACTS, step: 'misses_signal', next: NEXT }).alertsParent).toBe(true);
    expect(settleTurn({ ...FACTS, step: 'misses_signal', hasParent: false }).alertsParent).toBe(false);
  });
});
