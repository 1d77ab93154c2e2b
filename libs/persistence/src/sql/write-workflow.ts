/** Statements that define workflows. The workspace's lock makes its definitions come one after another. */
import type { Tx } from '../database.js';
import { newId } from '../id.js';
import type { WorkflowRow, WorkflowStepRow } from '../rows.js';

/** Locks the workspace for a change of its workflows; tells whether there is one. */
export async function lockDefinitions(tx: Tx, workspaceId: string): Promise<boolean> {
  return (await tx.query('SELECT id FROM workspace WHERE id = $1 FOR NO KEY UPDATE', [workspaceId])).length > 0;
}

/** Locks a workflow: tasks do not enter its steps meanwhile. */
export async function lockWorkflow(tx: Tx, id: string): Promise<WorkflowRow | null> {
  const [row] = await tx.query<WorkflowRow>('SELECT * FROM workflow WHERE id = $1 FOR NO KEY UPDATE', [id]);
  return row ?? null;
}

/** Stores a workflow without steps; a taken name violates `workflow_workspace_id_name_key`. */
export async function insertWorkflow(tx: Tx, workspaceId: string, name: string): Promise<WorkflowRow> {
  const [row] = await tx.query<WorkflowRow>('INSERT INTO workflow (id, workspace_id, name) VALUES ($1, $2, $3) RETURNING *', [
    newId(),
    workspaceId,
    name,
  ]);
  if (!row) throw new Error('an insert returned no row');
  return row;
}

/** Raises the revision of a locked workflow, with another name where given. */
export async function touchWorkflow(tx: Tx, id: string, name: string | null): Promise<void> {
  await tx.query('UPDATE workflow SET name = coalesce($2, name), revision = revision + 1, updated_at = now() WHERE id = $1', [id, name]);
}

/** Makes the workflow its workspace's only default, or none. */
export async function setDefaultWorkflow(tx: Tx, workflow: Pick<WorkflowRow, 'id' | 'workspace_id'>, on: boolean): Promise<void> {
  if (on)
    await tx.query('UPDATE workflow SET is_default = false WHERE workspace_id = $1 AND is_default AND id <> $2', [
      workflow.workspace_id,
      workflow.id,
    ]);
  await tx.query('UPDATE workflow SET is_default = $2 WHERE id = $1 AND is_default <> $2', [workflow.id, on]);
}

/** Takes a workflow out of use. */
export async function archiveWorkflow(tx: Tx, id: string): Promise<void> {
  await tx.query(
    'UPDATE workflow SET archived_at = now(), is_default = false, revision = revision + 1, updated_at = now() WHERE id = $1 AND archived_at IS NULL',
    [id],
  );
}

export type StepFields = Pick<WorkflowStepRow, 'id' | 'name' | 'on_turn_complete' | 'move_to_step_id' | 'requires_signal' | 'instructions'>;

/** Writes the steps of a locked workflow in their order; steps that are not among them are archived. */
export async function writeSteps(tx: Tx, workflow: Pick<WorkflowRow, 'id' | 'workspace_id'>, steps: readonly StepFields[]): Promise<void> {
  await tx.query(
    `WITH lowest AS (SELECT least(coalesce(min(position), 0), 0) AS position FROM workflow_step WHERE workflow_id = $1)
     UPDATE workflow_step s SET archived_at = now(), position = lowest.position - s.position FROM lowest
     WHERE s.workflow_id = $1 AND s.archived_at IS NULL AND s.id <> ALL($2::uuid[])`,
    [workflow.id, steps.map(({ id }) => id)],
  );
  await tx.query('UPDATE workflow_step SET position = position + 1000 WHERE workflow_id = $1 AND archived_at IS NULL', [workflow.id]);
  await tx.query(
    `INSERT INTO workflow_step (id, workspace_id, workflow_id, position, name, requires_signal, instructions)
     SELECT n.id, $1, $2, n.position, n.name, n.requires_signal, n.instructions
     FROM json_to_recordset($3) AS n(id uuid, position int, name text, requires_signal boolean, instructions text)
     ON CONFLICT (id) DO UPDATE SET position = excluded.position, name = excluded.name, requires_signal = excluded.requires_signal,
       instructions = excluded.instructions`,
    [workflow.workspace_id, workflow.id, JSON.stringify(steps.map((step, place) => ({ ...step, position: place + 1 })))],
  );
  await tx.query(
    `UPDATE workflow_step s SET on_turn_complete = n.on_turn_complete, move_to_step_id = n.move_to_step_id
     FROM json_to_recordset($1) AS n(id uuid, on_turn_complete text, move_to_step_id uuid) WHERE s.id = n.id`,
    [JSON.stringify(steps)],
  );
}

/** Steps among these in which tasks that have neither ended nor been deleted are, or will be when their turn ends, with how many. */
export function countUses(tx: Tx, stepIds: readonly string[]): Promise<readonly { readonly name: string; readonly tasks: number }[]> {
  return tx.query(
    `SELECT s.name, count(*)::int AS tasks FROM workflow_step s JOIN LATERAL (
       SELECT t.id FROM task t WHERE t.workflow_step_id = s.id AND t.ended_at IS NULL AND t.deleted_at IS NULL
       UNION SELECT x.task_id FROM turn u JOIN session x ON x.id = u.session_id WHERE u.deferred_step_id = s.id AND u.status <> 'finished'
     ) used ON true WHERE s.id = ANY($1::uuid[]) GROUP BY s.id, s.name, s.position ORDER BY s.position`,
    [stepIds],
  );
}
