import { describe, expect, test } from '@jest/globals';
import { reachesFamily, type SettlementFacts, settleTurn } from '@echelon/domain';

const FACTS: SettlementFacts = {
  outcome: 'completed',
  asked: false,
  questionPending: false,
  signalled: false,
  onLastStep: true,
  stepRequiresSignal: false,
  isPrimary: true,
  hasParent: true,
  next: { do: 'nothing', because: 'empty' },
  otherSessionActive: false,
  yieldToOthers: false,
};
const NEXT = { do: 'open', entryId: 'e' } as const;

const OUTCOMES = ['completed', 'completed_empty', 'tool_ended_turn', 'stopped', 'interrupted', 'error', 'turn_cap'] as const;
const BOTH = [false, true];

/** Every end that a turn can come to. */
function* everyEnd(): Generator<SettlementFacts> {
  for (const outcome of OUTCOMES)
    for (const asked of BOTH)
      for (const signalled of BOTH)
        for (const onLastStep of BOTH)
          for (const stepRequiresSignal of BOTH)
            for (const hasParent of BOTH) yield { ...FACTS, outcome, asked, signalled, onLastStep, stepRequiresSignal, hasParent };
}

test('an end that completes the task or alerts the parent is known to reach them before anything is locked [K11]', () => {
  for (const end of everyEnd()) {
    const { completesTask, alertsParent } = settleTurn(end);
    if (completesTask || alertsParent) expect({ end, reaches: reachesFamily(end) }).toEqual({ end, reaches: true });
  }
});

test('an ordinary end, and one with a question, reach nobody else', () => {
  expect(reachesFamily(FACTS)).toBe(false);
  expect(reachesFamily({ ...FACTS, outcome: 'tool_ended_turn', asked: true, signalled: true })).toBe(false);
});

describe('settling a turn', () => {
  test('an ordinary end rests the session and the task', () => {
    expect(settleTurn(FACTS)).toEqual({
      session: 'rest',
      task: 'rest',
      completesTask: false,
      runsOnTurnComplete: true,
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

  test('a turn that asked waits, and neither its step nor its signal counts [A17, K6b]', () => {
    const asked = { ...FACTS, outcome: 'tool_ended_turn', asked: true, questionPending: true, signalled: true } as const;
    expect(settleTurn(asked)).toMatchObject({
      session: 'wait',
      task: 'wait',
      completesTask: false,
      runsOnTurnComplete: false,
      alertsParent: false,
    });
  });

  test('a turn that asked counts as asked although its question was answered meanwhile [K6b]', () => {
    const settled = settleTurn({ ...FACTS, outcome: 'completed', asked: true, signalled: true, next: NEXT });
    expect(settled).toMatchObject({ completesTask: false, runsOnTurnComplete: false, drains: 'e' });
  });

  test('a completion signal on the last step completes the task, whatever else is queued', () => {
    expect(settleTurn({ ...FACTS, signalled: true, next: NEXT })).toMatchObject({
      session: 'complete',
      task: 'complete',
      completesTask: true,
      drains: null,
    });
  });

  test.each([
    ['not the last step', { onLastStep: false }],
    ['a turn that ended badly', { outcome: 'error' }],
  ] as const)('a signal does not complete the task on %s', (_case, change) => {
    expect(settleTurn({ ...FACTS, signalled: true, ...change })).toMatchObject({ completesTask: false, task: 'rest' });
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

  test('a missing signal alerts the parent where the step requires one', () => {
    expect(settleTurn({ ...FACTS, stepRequiresSignal: true }).alertsParent).toBe(true);
    expect(settleTurn({ ...FACTS, stepRequiresSignal: true, asked: true }).alertsParent).toBe(false);
  });
});
