/** The steps of a definition: canonical, within their limits, and sound. */
import type { UpdateWorkflow } from '@echelon/contracts';
import { canonicalText, type Limits, refuse, type Refusal, refuseWorkflow } from '@echelon/domain';
import { newId, type StepFields } from '@echelon/persistence';
import { checkBytes } from './limit-checks.js';

type GivenStep = NonNullable<UpdateWorkflow['steps']>[number];

interface FormerStep {
  readonly id: string;
  readonly name: string;
}

/** Steps as they are stored, those of a former list under their ids; refuses what is no workflow. */
export function toSteps(given: readonly GivenStep[], former: readonly FormerStep[], limits: Limits): readonly StepFields[] | Refusal {
  const steps = given.map(toCanonical);
  const refusal = refuseSteps(steps, limits) ?? refuseIds(steps, former);
  if (refusal) return refusal;
  const ids = steps.map(
    ({ id, name }) => id ?? former.find((each) => each.name === name && !steps.some((other) => other.id === each.id))?.id ?? newId(),
  );
  return steps.map(({ name, on_turn_complete, move_to, requires_signal, instructions }, place) => ({
    id: ids[place] ?? newId(),
    name,
    on_turn_complete,
    move_to_step_id: ids[steps.findIndex((each) => each.name === move_to)] ?? null,
    requires_signal,
    instructions,
  }));
}

function toCanonical(step: GivenStep): GivenStep {
  const { name, move_to: moveTo, instructions } = step;
  return { ...step, name: canonicalText(name), move_to: moveTo && canonicalText(moveTo), instructions: canonicalText(instructions) };
}

function refuseSteps(steps: readonly GivenStep[], limits: Limits): Refusal | null {
  for (const { instructions } of steps) {
    const tooLong = checkBytes(limits, 'instructions_bytes', 'steps.instructions', instructions);
    if (tooLong) return tooLong;
  }
  return refuseWorkflow(
    steps.map(({ name, on_turn_complete: onTurnComplete, move_to: moveTo, instructions }) => {
      return { name, onTurnComplete, moveTo: moveTo ?? null, instructions };
    }),
  );
}

function refuseIds(steps: readonly GivenStep[], former: readonly { readonly id: string }[]): Refusal | null {
  const ids = steps.flatMap(({ id }) => id ?? []);
  if (new Set(ids).size < ids.length) return refuse('INVALID_INPUT', { field: 'steps.id', rule: 'each at most once' });
  return ids.every((id) => former.some((each) => each.id === id)) ? null : refuse('NOT_FOUND', { field: 'steps.id' });
}
