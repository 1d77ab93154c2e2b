/** Choosing a step for a task. It stays in use until the commit: its workflow is held for share. */
import { refuse, type Refusal } from '@echelon/domain';
import { findFirstStep, holdStep, type StepView, type Tx } from '@echelon/persistence';
import { isId } from './scope.js';

const DEFAULT_WORKFLOW = 'default';

export interface StepChoice {
  readonly workspaceId: string;
  /** An id, `default`, or `null` where the step alone says it. */
  readonly workflowId: string | null;
  /** `null`: the workflow's first. */
  readonly stepId: string | null;
}

/** The step that is in use and in the workspace; NOT_FOUND names the field, as where the two do not belong together. */
export async function chooseStep(tx: Tx, { workspaceId, workflowId, stepId }: StepChoice): Promise<StepView | Refusal> {
  const isDefault = workflowId === DEFAULT_WORKFLOW;
  const first = stepId === null || isDefault ? await findFirstStep(tx, workspaceId, isDefault ? null : workflowId) : null;
  if (isDefault && !first) return refuse('NOT_FOUND', { field: 'workflow_id' });
  const named = isDefault ? first?.workflow_id : workflowId;
  const id = stepId ?? first?.id ?? null;
  const step = id !== null && isId(id) ? await holdStep(tx, id) : null;
  const usable = step?.workspace_id === workspaceId && step.archived_at === null && !step.workflow_archived;
  if (!step || !usable) return refuse('NOT_FOUND', { field: stepId === null ? 'workflow_id' : 'workflow_step_id' });
  if (named && step.workflow_id !== named)
    return refuse('INVALID_INPUT', { field: 'workflow_step_id', rule: 'a step of the named workflow' });
  return step;
}
