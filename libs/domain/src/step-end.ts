/**
 * What the end of a turn does to the step that its task is in (autopilot-contract.md A17, §8; architecture.md §4.6).
 *
 * E1  A turn that asked, or after which a question waits, changes no step: its signal and a move asked for meanwhile are void.
 * E2  A move that somebody asked for goes before the step's rule, and before a signal: the signal was of the step that is left.
 * E3  A step belongs to the task's primary session: the turn of another completes the task by its signal, and moves nothing.
 * E4  While direct children are open the work of the step goes on without a turn; only a signal says otherwise.
 */
import { endedBadly, type TurnOutcome, wasStopped } from './turn.js';

/** The step of a task as a turn's end reads it. */
export interface StepFacts {
  /** A signal on it completes the task. */
  readonly isLast: boolean;
  readonly requiresSignal: boolean;
  /** Where its rule leads; `null` where it leads nowhere. */
  readonly movesTo: string | null;
}

/** A task without a workflow is all one step, which leads nowhere. */
export const NO_STEP: StepFacts = { isLast: true, requiresSignal: false, movesTo: null };

export interface StepEndFacts {
  readonly step: StepFacts;
  readonly outcome: TurnOutcome;
  /** `turn.ended_by_question_id` is set. */
  readonly asked: boolean;
  readonly questionPending: boolean;
  readonly signalled: boolean;
  /** Somebody asked for a move while the turn ran. */
  readonly moveAsked: boolean;
  readonly isPrimary: boolean;
  readonly childrenOpen: boolean;
}

export type StepEnd = 'stays' | 'moves_as_asked' | 'completes_task' | 'moves_by_rule' | 'misses_signal';

interface Rule {
  readonly when: (facts: StepEndFacts) => boolean;
  readonly then: StepEnd;
}

/** The first rule that holds decides. */
const RULES: readonly Rule[] = [
  { when: ({ asked, questionPending }) => asked || questionPending, then: 'stays' },
  { when: ({ moveAsked }) => moveAsked, then: 'moves_as_asked' },
  { when: (facts) => signalCounts(facts) && facts.step.isLast, then: 'completes_task' },
  { when: ({ isPrimary }) => !isPrimary, then: 'stays' },
  { when: (facts) => signalCounts(facts) && facts.step.movesTo !== null, then: 'moves_by_rule' },
  { when: (facts) => signalCounts(facts) || facts.outcome !== 'completed' || facts.childrenOpen, then: 'stays' },
  { when: ({ step }) => step.requiresSignal, then: 'misses_signal' },
  { when: ({ step }) => step.movesTo !== null, then: 'moves_by_rule' },
];

/** Decides what the end does to the step. */
export function endStep(facts: StepEndFacts): StepEnd {
  return RULES.find(({ when }) => when(facts))?.then ?? 'stays';
}

/** A signal of a turn that ended badly, or that somebody stopped (lead-and-turns.md T6), says nothing. */
export function signalCounts({ signalled, outcome }: Pick<StepEndFacts, 'signalled' | 'outcome'>): boolean {
  return signalled && !endedBadly(outcome) && !wasStopped(outcome);
}
