/** How a turn ended, in the words of its row, and how far that reaches. */
import { type LoopStop, turnOutcome } from '@echelon/agent-loop';
import { type Reach, reachesFamily, type TurnOutcome } from '@echelon/domain';
import type { ClaimedTurn } from './claim.js';

/** `null` for a turn that goes on later. */
export function outcomeOf({ turn }: ClaimedTurn, stop: LoopStop): TurnOutcome | null {
  return turnOutcome({ stop, stopRequested: turn.stop_requested_at !== null, interrupted: false });
}

/** What a person is told beside the outcome. */
export function detailOf(stop: LoopStop): string | null {
  switch (stop.reason) {
    case 'error':
      return `${stop.kind}: ${stop.message}`;
    case 'loop_detected':
    case 'prompt_blocked':
      return stop.explanation;
    case 'budget_exhausted':
      return stop.budget;
    default:
      return null;
  }
}

/** What the domain asks of an end before it decides. */
export function reachOf({ turn, task }: ClaimedTurn, outcome: TurnOutcome): Reach {
  return {
    outcome,
    asked: turn.ended_by_question_id !== null,
    signalled: turn.completion_signal !== null,
    onLastStep: true,
    stepRequiresSignal: false,
    hasParent: task.parent_id !== null,
  };
}

/** Whether this end may touch other tasks than the turn's own; a turn that goes on later touches none. */
export function reachesOthers(claimed: ClaimedTurn, stop: LoopStop): boolean {
  const outcome = outcomeOf(claimed, stop);
  return outcome !== null && reachesFamily(reachOf(claimed, outcome));
}
