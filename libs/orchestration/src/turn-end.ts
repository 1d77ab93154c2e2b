/** How a turn ended, in the words of its row, and how far that reaches. */
import { turnOutcome } from '@echelon/agent-loop';
import { NO_STEP, type Reach, reachesFamily, type StepFacts, type TurnOutcome } from '@echelon/domain';
import { findStep, holdStep, type StepView, type TaskRow, type Tx } from '@echelon/persistence';
import type { TurnStop } from './agent-runtime.js';
import type { ClaimedTurn } from './claim.js';

/** `null` for a turn that goes on later. */
export function outcomeOf({ turn }: ClaimedTurn, stop: TurnStop): TurnOutcome | null {
  const stopRequested = turn.stop_requested_at !== null;
  if (stop.reason === 'interrupted') return turnOutcome({ stop: null, stopRequested, interrupted: true });
  return turnOutcome({ stop, stopRequested, interrupted: false });
}

/** What a person is told beside the outcome. */
export function detailOf(stop: TurnStop): string | null {
  switch (stop.reason) {
    case 'error':
      return `${stop.kind}: ${stop.message}`;
    case 'loop_detected':
    case 'prompt_blocked':
    case 'interrupted':
      return stop.explanation;
    case 'budget_exhausted':
      return stop.budget;
    default:
      return null;
  }
}

/** What the domain asks of an end before it decides. */
export function reachOf({ turn, task }: ClaimedTurn, outcome: TurnOutcome, step: StepFacts): Reach {
  return {
    outcome,
    asked: turn.ended_by_question_id !== null,
    signalled: turn.completion_signal !== null,
    moveAsked: turn.deferred_step_id !== null,
    step,
    hasParent: task.parent_id !== null,
  };
}

/** Whether this end may touch other tasks than the turn's own, by the step as `read` reads it; a turn that goes on later touches none. */
export async function reachesOthers(tx: Tx, claimed: ClaimedTurn, stop: TurnStop, read: ReadStep): Promise<boolean> {
  const outcome = outcomeOf(claimed, stop);
  return outcome !== null && reachesFamily(reachOf(claimed, outcome, await read(tx, claimed.task)));
}

type ReadStep = (tx: Tx, task: TaskRow) => Promise<StepFacts>;

/** The task's step as it is now. */
export function findStepOf(tx: Tx, task: TaskRow): Promise<StepFacts> {
  return readStep(tx, task, findStep);
}

/** The task's step, which stays as it is until the commit. */
export function holdStepOf(tx: Tx, task: TaskRow): Promise<StepFacts> {
  return readStep(tx, task, holdStep);
}

async function readStep(tx: Tx, task: TaskRow, read: (tx: Tx, id: string) => Promise<StepView | null>): Promise<StepFacts> {
  const step = task.workflow_step_id === null ? null : await read(tx, task.workflow_step_id);
  if (!step) return NO_STEP;
  return { isLast: step.position === step.steps, requiresSignal: step.requires_signal, movesTo: step.moves_to_id };
}
