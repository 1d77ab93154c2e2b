/**
 * Workflows: which definitions are sound, and where a step leads.
 *
 * W1  Steps are ordered and known by their names, which are unique in their workflow.
 * W2  A rule leads to another step of the same workflow; after the last step nothing is next.
 * W3  A step with instructions opens a turn when a task enters it, so a circle of rules through such steps alone would run for ever
 *     without anybody's word: it is refused where it is defined. A step without instructions in the circle rests the task.
 */
import { LIMITS } from './limits.js';
import { refuse, type Refusal } from './refusal.js';

export type OnTurnComplete = 'none' | 'move_to_next' | 'move_to_step';

const MOST_STEPS = LIMITS.steps_per_workflow.default;

export interface StepDefinition {
  readonly name: string;
  readonly onTurnComplete: OnTurnComplete;
  /** Name of the step that `move_to_step` leads to, else `null`. */
  readonly moveTo: string | null;
  readonly instructions: string;
}

/** Refuses a list of steps that is no workflow; `null` allows it. */
export function refuseWorkflow(steps: readonly StepDefinition[]): Refusal | null {
  if (steps.length === 0) return refuse('INVALID_INPUT', { field: 'steps', rule: 'at least one' });
  if (steps.length > MOST_STEPS) return refuse('INVALID_INPUT', { field: 'steps', rule: `at most ${MOST_STEPS}` });
  const names = steps.map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) return refuse('INVALID_INPUT', { field: 'steps', rule: 'names are unique', step: twice });
  return steps.map((step) => refuseTarget(step, names)).find((refusal) => refusal !== null) ?? refuseLoop(steps);
}

/** Place of the step that the rule of a step leads to; `null` where it leads nowhere. */
export function targetOf(steps: readonly StepDefinition[], place: number): number | null {
  const step = steps[place];
  if (!step || step.onTurnComplete === 'none') return null;
  const target = step.onTurnComplete === 'move_to_next' ? place + 1 : steps.findIndex(({ name }) => name === step.moveTo);
  return target in steps ? target : null;
}

function refuseTarget({ name, onTurnComplete, moveTo }: StepDefinition, names: readonly string[]): Refusal | null {
  const field = 'steps.on_turn_complete';
  if (onTurnComplete !== 'move_to_step')
    return moveTo === null ? null : refuse('INVALID_INPUT', { field, step: name, rule: 'only move_to_step names a step' });
  if (moveTo === null || !names.includes(moveTo))
    return refuse('INVALID_INPUT', { field, step: name, rule: 'names a step of this workflow' });
  return moveTo === name ? refuse('INVALID_INPUT', { field, step: name, rule: 'names another step' }) : null;
}

function refuseLoop(steps: readonly StepDefinition[]): Refusal | null {
  for (const start of steps.keys()) {
    const path = [start];
    for (let at = targetOf(steps, start); at !== null && startsTurn(steps, at); at = targetOf(steps, at)) {
      path.push(at);
      if (at === start) return refuse('WORKFLOW_LOOP', { path: path.map((place) => steps[place]?.name ?? '') });
      if (path.indexOf(at) < path.length - 1) break;
    }
  }
  return null;
}

function startsTurn(steps: readonly StepDefinition[], place: number): boolean {
  return steps[place]?.instructions !== '';
}
