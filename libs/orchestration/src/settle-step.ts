/** What a settlement does to the step of its task (autopilot-contract.md A17, §8): the turn is closed, and a move asked for has taken place. */
import { endStep, type StepEnd, type StepFacts, type TurnOutcome } from '@echelon/domain';
import { type Admission, findTask, loadAdmission, type TaskRow } from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { enterStep } from './ending.js';
import { reachOf } from './turn-end.js';
import type { Unit } from './unit-of-work.js';

export interface StepEnding {
  readonly outcome: TurnOutcome;
  readonly place: StepFacts;
  /** What the session would do next, read when the turn was closed. */
  readonly facts: Admission;
}

export interface SettledStep {
  readonly step: StepEnd;
  /** The task in the step that it is in now. */
  readonly task: TaskRow;
  /** What the session does next, with the instructions of a step that was entered. */
  readonly facts: Admission;
}

/** Decides what becomes of the step, and moves the task where its rule says so. */
export async function settleStep(unit: Unit, claimed: ClaimedTurn, { outcome, place, facts }: StepEnding): Promise<SettledStep> {
  const { task, session } = claimed;
  const step = endStep({
    ...reachOf(claimed, outcome, place),
    questionPending: facts.questionPending !== false,
    isPrimary: session.is_primary,
    childrenOpen: task.open_children > 0,
  });
  if (step === 'moves_by_rule' && place.movesTo !== null) {
    const moved = await enterStep(unit, task, place.movesTo, 'rule');
    return { step, task: moved, facts: await loadAdmission(unit, session.id) };
  }
  if (step !== 'moves_as_asked') return { step, task, facts };
  const moved = await findTask(unit, task.id);
  if (!moved) throw new Error(`task ${task.id} vanished under its lock`);
  return { step, task: moved, facts: await loadAdmission(unit, session.id) };
}
