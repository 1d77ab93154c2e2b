import type { Workflow, WorkflowStep } from '@echelon/contracts';
import type { WorkflowStepRow, WorkflowView } from '@echelon/persistence';

/** A workflow as it is shown: its steps in their order, those that they lead to by name. */
export function toWorkflow(row: WorkflowView): Workflow {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    is_default: row.is_default,
    revision: row.revision,
    steps: row.steps.map((step) => toStep(step, row.steps)),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    archived_at: row.archived_at?.toISOString() ?? null,
  };
}

function toStep(step: WorkflowStepRow, steps: readonly WorkflowStepRow[]): WorkflowStep {
  return {
    id: step.id,
    position: step.position,
    name: step.name,
    on_turn_complete: step.on_turn_complete,
    move_to: steps.find(({ id }) => id === step.move_to_step_id)?.name ?? null,
    requires_signal: step.requires_signal,
    instructions: step.instructions,
  };
}
