/**
 * Settlement of a turn: one pure decision over how it ended and what waits (architecture.md §4.6, K5, K6b).
 *
 * S1  A turn that asked is recognised by its own column, never by the question's status now.
 * S2  Such a turn runs no on-turn-complete; its completion signal and deferred move are void (A17).
 * S3  Only a completion signal on the last step makes the task terminal here; everything else rests in review.
 */
import type { NextWork } from './admission.js';
import type { SessionEvent } from './session.js';
import type { TaskEvent } from './task.js';
import { endedBadly, type TurnOutcome } from './turn.js';

export interface SettlementFacts {
  readonly outcome: TurnOutcome;
  /** `turn.ended_by_question_id` is set. */
  readonly asked: boolean;
  readonly questionPending: boolean;
  readonly signalled: boolean;
  readonly onLastStep: boolean;
  readonly stepRequiresSignal: boolean;
  readonly isPrimary: boolean;
  readonly hasParent: boolean;
  /** What the session would do next once this turn is closed. */
  readonly next: NextWork;
  /** Another session of the task runs or waits. */
  readonly otherSessionActive: boolean;
  /** Others wait for this worker: do not drain here (K24). */
  readonly yieldToOthers: boolean;
}

export interface Settlement {
  readonly session: SessionEvent;
  readonly task: TaskEvent | null;
  readonly completesTask: boolean;
  readonly runsOnTurnComplete: boolean;
  /** Entry that opens the next turn under the same lease. */
  readonly drains: string | null;
  /** The lease is given back although there is work: announce it. */
  readonly announces: boolean;
  readonly alertsParent: boolean;
}

/** What of a settlement reaches beyond the turn's own task: the task ends, or its parent is told. Known before anything is locked. */
export type Reach = Pick<SettlementFacts, 'outcome' | 'asked' | 'signalled' | 'onLastStep' | 'stepRequiresSignal' | 'hasParent'>;

/** Whether settling the turn may touch other tasks than its own; if not, siblings settle side by side. */
export function reachesFamily(facts: Reach): boolean {
  return completes(facts) || (facts.hasParent && (endedBadly(facts.outcome) || facts.stepRequiresSignal));
}

/** Decides what follows a turn. The caller closes the turn and applies this in the same transaction. */
export function settleTurn(facts: SettlementFacts): Settlement {
  const completesTask = completes(facts);
  const hasWork = !completesTask && facts.next.do === 'open';
  const drains = hasWork && facts.next.do === 'open' && !facts.yieldToOthers ? facts.next.entryId : null;
  const waits = facts.questionPending;
  return {
    session: sessionEvent({ completesTask, drains: drains !== null, waits }),
    task: taskEvent({ completesTask, drains: drains !== null, waits, otherSessionActive: facts.otherSessionActive }),
    completesTask,
    runsOnTurnComplete: !facts.asked && facts.outcome === 'completed' && facts.isPrimary,
    drains,
    announces: hasWork && drains === null,
    alertsParent: facts.hasParent && (endedBadly(facts.outcome) || missesSignal(facts)),
  };
}

function completes({ signalled, asked, onLastStep, outcome }: Reach): boolean {
  return signalled && !asked && onLastStep && !endedBadly(outcome);
}

function missesSignal(facts: SettlementFacts): boolean {
  return facts.stepRequiresSignal && !facts.signalled && !facts.asked && facts.outcome === 'completed' && facts.next.do !== 'open';
}

function sessionEvent(decided: { completesTask: boolean; drains: boolean; waits: boolean }): SessionEvent {
  if (decided.completesTask) return 'complete';
  if (decided.drains) return 'start';
  return decided.waits ? 'wait' : 'rest';
}

function taskEvent(decided: { completesTask: boolean; drains: boolean; waits: boolean; otherSessionActive: boolean }): TaskEvent | null {
  if (decided.completesTask) return 'complete';
  if (decided.drains || decided.otherSessionActive) return null;
  return decided.waits ? 'wait' : 'rest';
}
