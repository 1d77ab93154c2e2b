/**
 * Workflows and their steps.
 *
 * W1  Whoever puts a task into a step, or stores that it will be, holds the step's workflow for share; whoever changes a definition
 *     locks it. A step is therefore not archived under a task that enters it (K20).
 * W2  Steps that are not archived have positions from 1 on without gaps.
 */
import type { Tx } from '../database.js';
import type { Keyset, PageOf } from '../keyset.js';
import type { TaskRow, WorkflowRow, WorkflowStepRow } from '../rows.js';

/** A step with its place in its workflow. */
export interface StepView extends WorkflowStepRow {
  readonly workflow_name: string;
  readonly workflow_archived: boolean;
  /** Steps of the workflow that are not archived. */
  readonly steps: number;
  /** Where its rule leads. */
  readonly moves_to_id: string | null;
}

export async function findStep(tx: Tx, id: string): Promise<StepView | null> {
  const [row] = await tx.query<StepView>(
    `SELECT s.*, w.name AS workflow_name, w.archived_at IS NOT NULL AS workflow_archived,
       (SELECT count(*)::int FROM workflow_step o WHERE o.workflow_id = s.workflow_id AND o.archived_at IS NULL) AS steps,
       CASE s.on_turn_complete WHEN 'move_to_step' THEN s.move_to_step_id WHEN 'move_to_next' THEN
         (SELECT n.id FROM workflow_step n WHERE n.workflow_id = s.workflow_id AND n.position = s.position + 1) END AS moves_to_id
     FROM workflow_step s JOIN workflow w ON w.id = s.workflow_id WHERE s.id = $1`,
    [id],
  );
  return row ?? null;
}

/** Holds the step's workflow as it is until the commit, and gives the step (W1). */
export async function holdStep(tx: Tx, id: string): Promise<StepView | null> {
  const [, step] = await Promise.all([
    tx.query('SELECT id FROM workflow WHERE id = (SELECT workflow_id FROM workflow_step WHERE id = $1) FOR SHARE', [id]),
    findStep(tx, id),
  ]);
  return step;
}

/** The workflow and its first step; for `null` the workspace's default workflow. */
export async function findFirstStep(
  tx: Tx,
  workspaceId: string,
  workflowId: string | null,
): Promise<{ readonly id: string; readonly workflow_id: string } | null> {
  const [row] = await tx.query<{ id: string; workflow_id: string }>(
    `SELECT s.id, s.workflow_id FROM workflow w JOIN workflow_step s ON s.workflow_id = w.id AND s.position = 1
     WHERE w.workspace_id = $1 AND w.archived_at IS NULL AND CASE WHEN $2::uuid IS NULL THEN w.is_default ELSE w.id = $2 END`,
    [workspaceId, workflowId],
  );
  return row ?? null;
}

/** Puts a locked task into a step. */
export async function updateTaskStep(tx: Tx, taskId: string, stepId: string): Promise<TaskRow> {
  const [row] = await tx.query<TaskRow>('UPDATE task SET workflow_step_id = $2, updated_at = now() WHERE id = $1 RETURNING *', [
    taskId,
    stepId,
  ]);
  if (!row) throw new Error(`task ${taskId} vanished under its lock`);
  return row;
}

/** Stores where the task moves when a turn of it ends, and takes back what any other was to do; `null` only takes back. */
export async function setDeferredStep(
  tx: Tx,
  taskId: string,
  move: { readonly turnId: string; readonly stepId: string } | null,
): Promise<void> {
  await tx.query(
    `UPDATE turn u SET deferred_step_id = CASE WHEN u.id = $2::uuid THEN $3::uuid END FROM session s
     WHERE s.id = u.session_id AND s.task_id = $1 AND u.status <> 'finished' AND (u.id = $2 OR u.deferred_step_id IS NOT NULL)`,
    [taskId, move?.turnId ?? null, move?.stepId ?? null],
  );
}

export interface WorkflowView extends WorkflowRow {
  readonly steps: readonly WorkflowStepRow[];
}

const VIEW = `
SELECT w.*, coalesce((SELECT json_agg(s ORDER BY s.position) FROM workflow_step s WHERE s.workflow_id = w.id AND s.archived_at IS NULL), '[]') AS steps
FROM workflow w`;

export async function readWorkflow(tx: Tx, id: string): Promise<WorkflowView | null> {
  const [row] = await tx.query<WorkflowView>(`${VIEW} WHERE w.id = $1`, [id]);
  return row ?? null;
}

/** Workflows that are not archived, from new to old. */
export function readWorkflows(tx: Tx, workspaceId: string | null, page: PageOf<Keyset>): Promise<readonly WorkflowView[]> {
  return tx.query<WorkflowView>(
    `${VIEW} WHERE w.archived_at IS NULL AND ($1::uuid IS NULL OR w.workspace_id = $1)
       AND ($2::timestamptz IS NULL OR (w.created_at, w.id) < ($2, $3::uuid)) ORDER BY w.created_at DESC, w.id DESC LIMIT $4`,
    [workspaceId, page.after?.createdAt ?? null, page.after?.id ?? null, page.take],
  );
}
