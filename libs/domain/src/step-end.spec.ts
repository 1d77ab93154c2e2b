import { describe, expect, test } from '@jest/globals';
import { endStep, NO_STEP, type StepEnd, type StepEndFacts, type StepFacts } from '@echelon/domain';

const LAST: StepFacts = { isLast: true, requiresSignal: false, movesTo: null };
const RESTS: StepFacts = { isLast: false, requiresSignal: false, movesTo: null };
const MOVES: StepFacts = { isLast: false, requiresSignal: false, movesTo: 'next' };
const BACK: StepFacts = { isLast: true, requiresSignal: false, movesTo: 'first' };
const signalled = (step: StepFacts): StepFacts => ({ ...step, requiresSignal: true });

const FACTS: StepEndFacts = {
  step: NO_STEP,
  outcome: 'completed',
  asked: false,
  questionPending: false,
  signalled: false,
  moveAsked: false,
  isPrimary: true,
  childrenOpen: false,
};

/** Steps by what they say, and what a completed turn does to each: without a signal, and with one. */
const CELLS: readonly (readonly [name: string, step: StepFacts, silent: StepEnd, signal: StepEnd])[] = [
  ['no workflow', NO_STEP, 'stays', 'completes_task'],
  ['last', LAST, 'stays', 'completes_task'],
  ['last, requires a signal', signalled(LAST), 'misses_signal', 'completes_task'],
  ['last, leads back', BACK, 'moves_by_rule', 'completes_task'],
  ['last, leads back, requires a signal', signalled(BACK), 'misses_signal', 'completes_task'],
  ['rests', RESTS, 'stays', 'stays'],
  ['rests, requires a signal', signalled(RESTS), 'misses_signal', 'stays'],
  ['leads on', MOVES, 'moves_by_rule', 'moves_by_rule'],
  ['leads on, requires a signal', signalled(MOVES), 'misses_signal', 'moves_by_rule'],
];

describe.each(CELLS)('a step: %s', (_name, step, silent, signal) => {
  const end = (more: Partial<StepEndFacts>): StepEnd => endStep({ ...FACTS, step, ...more });

  test(`a completed turn: ${silent}`, () => {
    expect(end({})).toBe(silent);
  });

  test(`a completed turn with a signal: ${signal}`, () => {
    expect(end({ signalled: true })).toBe(signal);
    expect(end({ signalled: true, childrenOpen: true })).toBe(signal);
    expect(end({ signalled: true, outcome: 'tool_ended_turn' })).toBe(signal);
  });

  test.each([{ asked: true }, { questionPending: true }, { asked: true, questionPending: true }])(
    'whatever a turn did, %j leaves it where it is [A17, K6b]',
    (wait) => {
      for (const more of [{}, { signalled: true }, { moveAsked: true }, { signalled: true, moveAsked: true }])
        expect(end({ ...wait, ...more })).toBe('stays');
    },
  );

  test('a move that was asked for goes before its rule and before a signal, however the turn ended', () => {
    for (const outcome of ['completed', 'error', 'stopped'] as const)
      for (const signal of [false, true]) expect(end({ outcome, signalled: signal, moveAsked: true })).toBe('moves_as_asked');
  });

  test.each(['error', 'interrupted', 'turn_cap', 'stopped', 'cancelled'] as const)('a turn that ended %s changes nothing', (outcome) => {
    expect(end({ outcome })).toBe('stays');
    expect(end({ outcome, signalled: true })).toBe('stays');
  });

  test.each(['completed_empty', 'tool_ended_turn', 'surface_ended'] as const)(
    'a turn without a signal that ended %s changes nothing',
    (outcome) => {
      expect(end({ outcome })).toBe('stays');
    },
  );

  test('the turn of another session than the primary one moves nothing, and completes the task by its signal', () => {
    expect(end({ isPrimary: false })).toBe('stays');
    expect(end({ isPrimary: false, signalled: true })).toBe(step.isLast ? 'completes_task' : 'stays');
  });

  test('while children are open, a turn without a signal changes nothing', () => {
    expect(end({ childrenOpen: true })).toBe('stays');
  });
});
