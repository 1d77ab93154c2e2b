/**
 * Settlement of a turn: one pure decision over how it ended and what waits (architecture.md §4.6, K5, K6b).
 *
 * S1  A turn that asked is recognised by its own column, never by the question's status now.
 * S2  What becomes of the task's step is decided before (`endStep`); a step that it enters may already have given the session work.
 * S3  Only a completion signal on the last step makes the task terminal here; everything else rests in review.
 * S4  Stop wins over a completion signal of the same turn, whichever came first (lead-and-turns.md T6): the task rests in review.
 */
import type { NextWork } from './admission.js';
import type { SessionEvent } from './session.js';
import { signalCounts, type StepEnd, type StepFacts } from './step-end.js';
import type { TaskEvent } from './task.js';
import { endedBadly, type TurnOutcome } from './turn.js';

export interface SettlementFacts {
  readonly outcome: TurnOutcome;
  readonly step: StepEnd;
  readonly questionPending: boolean;
  readonly hasParent: boolean;
  /** What the session would do next once this turn is closed and its task is in its step. */
  readonly next: NextWork;
  /** Another session of the task waits, or has an open turn, whoever holds it. */
  readonly otherSessionActive: boolean;
  /** Others wait for this worker: do not drain here (K24). */
  readonly yieldToOthers: boolean;
}

export interface Settlement {
  readonly session: SessionEvent;
  readonly task: TaskEvent | null;
  readonly completesTask: boolean;
  /** Entry that opens the next turn under the same lease. */
  readonly drains: string | null;
  /** The lease is given back although there is work: announce it. */
  readonly announces: boolean;
  readonly alertsParent: boolean;
}

/** What of an end reaches beyond the turn's own task: the task ends, or its parent is told. Known before anything is locked. */
export interface Reach {
  readonly outcome: TurnOutcome;
  readonly asked: boolean;
  readonly signalled: boolean;
  readonly moveAsked: boolean;
  readonly step: StepFacts;
  readonly hasParent: boolean;
}

/** Whether settling the turn may touch other tasks than its own; if not, siblings settle side by side. */
export function reachesFamily(reach: Reach): boolean {
  const { outcome, asked, moveAsked, step, hasParent } = reach;
  const completes = signalCounts(reach) && !asked && !moveAsked && step.isLast;
  return completes || (hasParent && (endedBadly(outcome) || step.requiresSignal));
}

/** Decides what follows a turn. The caller closes the turn and applies this in the same transaction. */
export function settleTurn(facts: SettlementFacts): Settlement {
  const completesTask = facts.step === 'completes_task';
  const hasWork = !completesTask && facts.next.do === 'open';
  const drains = hasWork && facts.next.do === 'open' && !facts.yieldToOthers ? facts.next.entryId : null;
  const waits = facts.questionPending;
  return {
    session: sessionEvent({ completesTask, drains: drains !== null, waits }),
    task: taskEvent({ completesTask, drains: drains !== null, waits, otherSessionActive: facts.otherSessionActive }),
    completesTask,
    drains,
    announces: hasWork && drains === null,
    alertsParent: facts.hasParent && (endedBadly(facts.outcome) || facts.step === 'misses_signal'),
  };
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
