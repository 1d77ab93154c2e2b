/**
 * Statements that delete tasks: a mark first, the rows later (operations.md, Deletion).
 *
 * D1  A deleted task has no parent, and its sessions have the mark with it. A task whose parent is deleted is still to be deleted.
 * D2  What waits for a deleted task that did not complete keeps its row: a dependency is never lost silently.
 */
import type { OpenTx, Tx } from '../database.js';
import { RELEASING_STATES } from '@echelon/domain';
import type { TaskRow } from '../rows.js';

/** Marks the task and its sessions as deleted, takes it away from its parent and from what it waits for. The caller holds its lock. */
export async function setDeleted(tx: Tx, id: string): Promise<TaskRow> {
  const [row] = await tx.query<TaskRow>(
    `WITH sessions AS (UPDATE session SET deleted_at = now() WHERE task_id = $1),
       waits AS (DELETE FROM task_dependency WHERE task_id = $1),
       told AS (DELETE FROM operator_notification WHERE task_id = $1)
     UPDATE task SET deleted_at = now(), parent_id = NULL, stopping = false, updated_at = now() WHERE id = $1 RETURNING *`,
    [id],
  );
  if (!row) throw new Error(`task ${id} does not exist`);
  return row;
}

/** Makes roots of the direct children of a task, and gives the tasks below them, which are locked, their depths. */
export async function detachChildren(tx: Tx, id: string, below: readonly string[], levels: number): Promise<readonly TaskRow[]> {
  await tx.query('UPDATE task SET depth = depth - $2 WHERE id = ANY($1::uuid[])', [below, levels]);
  await tx.query('UPDATE task SET open_children = 0 WHERE id = $1', [id]);
  return tx.query<TaskRow>('UPDATE task SET parent_id = NULL, updated_at = now() WHERE parent_id = $1 RETURNING *', [id]);
}

/** Whether this actor has deleted the task before. */
export async function wasDeletedBy(tx: Tx, id: string, actor: string): Promise<boolean> {
  const rows = await tx.query(`SELECT 1 FROM audit WHERE action = 'task.delete' AND subject = $1 AND actor = $2 LIMIT 1`, [id, actor]);
  return rows.length > 0;
}

/** Tasks that were deleted so long ago with all that is below them, which is still there: the process of that cascade died. */
export async function listLeftDeletions(tx: Tx, afterSeconds: number, limit: number): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT p.id FROM task p WHERE p.deleted_at < now() - $1 * interval '1 second'
       AND EXISTS (SELECT 1 FROM task t WHERE t.parent_id = p.id AND t.deleted_at IS NULL) ORDER BY p.id LIMIT $2`,
    [afterSeconds, limit],
  );
  return rows.map((row) => row.id);
}

/** Direct children of deleted tasks among these. */
export async function listChildrenOfDeleted(tx: Tx, ids: readonly string[], limit: number): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT t.id FROM task p JOIN task t ON t.parent_id = p.id AND t.deleted_at IS NULL
     WHERE p.id = ANY($1::uuid[]) AND p.deleted_at IS NOT NULL ORDER BY t.id LIMIT $2`,
    [ids, limit],
  );
  return rows.map((row) => row.id);
}

/** Whether one of the tasks is below a deleted one, which takes it along: it is the root of what is below it (D1). */
export async function isBelowDeleted(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const rows = await tx.query(
    `WITH RECURSIVE above(id, parent_id, deleted_at) AS (
       SELECT id, parent_id, deleted_at FROM task WHERE id = ANY($1::uuid[])
       UNION ALL SELECT t.id, t.parent_id, t.deleted_at FROM task t JOIN above a ON t.id = a.parent_id)
     SELECT 1 FROM above WHERE deleted_at IS NOT NULL LIMIT 1`,
    [ids],
  );
  return rows.length > 0;
}

export interface PurgeScope {
  /** Deleted so long ago: whoever ran its turns has noticed. */
  readonly afterSeconds: number;
  /** The workspace root that this process reaches; a task whose folder lies in another one is another process's to purge. */
  readonly rootId: string;
  /** Tasks that are passed over. */
  readonly except: readonly string[];
  readonly limit: number;
}

/** Deleted tasks whose rows may go: nothing is below them any more, and nothing waits for them (D2). */
export async function listPurgeable(tx: Tx, { afterSeconds, rootId, except, limit }: PurgeScope): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT t.id FROM task t LEFT JOIN task_folder f ON f.folder = t.folder
     WHERE t.deleted_at < now() - $1 * interval '1 second' AND (f.folder IS NULL OR f.workspace_root_id = $2)
       AND NOT EXISTS (SELECT 1 FROM task c WHERE c.parent_id = t.id)
       AND (t.state = ANY($3::text[]) OR NOT EXISTS (
         SELECT 1 FROM task_dependency d JOIN task w ON w.id = d.task_id AND w.ended_at IS NULL WHERE d.blocked_by_id = t.id))
       AND t.id <> ALL($4::uuid[])
     ORDER BY t.deleted_at LIMIT $5`,
    [afterSeconds, rootId, RELEASING_STATES, except, limit],
  );
  return rows.map((row) => row.id);
}

/** Locks a deleted task for one batch of its purge; `null` when it is gone, or another process purges it. */
export async function lockDeleted(tx: Tx, id: string): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>('SELECT * FROM task WHERE id = $1 AND deleted_at IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED', [id]);
  return row ?? null;
}

/** Deletes the oldest turns of a task with all that belongs to them; returns how many. */
export async function purgeTurns(tx: OpenTx, taskId: string, limit: number): Promise<number> {
  const rows = await tx.query<{ id: string; opening_entry_id: string }>(
    'SELECT u.id, u.opening_entry_id FROM session s JOIN turn u ON u.session_id = s.id WHERE s.task_id = $1 ORDER BY u.id LIMIT $2',
    [taskId, limit],
  );
  const ids = [rows.map((row) => row.id)];
  for (const table of ['message', 'approval', 'tool_call', 'model_request'])
    tx.send(`DELETE FROM ${table} WHERE turn_id = ANY($1::uuid[])`, ids);
  tx.send('DELETE FROM queue_entry WHERE id = ANY($1::uuid[])', [rows.map((row) => row.opening_entry_id)]);
  tx.send('DELETE FROM turn WHERE id = ANY($1::uuid[])', ids);
  return rows.length;
}

/** Deletes a batch of what belongs to the task's sessions and to no turn; returns how many rows. */
export async function purgeSessionRows(tx: Tx, taskId: string, limit: number): Promise<number> {
  let deleted = 0;
  for (const table of ['message', 'queue_entry', 'artifact', 'api_token', 'outbox']) {
    const rows = await tx.query(
      `DELETE FROM ${table} WHERE id = ANY(ARRAY(
         SELECT r.id FROM session s JOIN ${table} r ON r.session_id = s.id WHERE s.task_id = $1 LIMIT $2)) RETURNING id`,
      [taskId, limit],
    );
    deleted += rows.length;
  }
  return deleted;
}

/** Whether another task works in the folder, deleted ones included: the last of them takes it along. One purge at a time asks. */
export async function isFolderShared(tx: OpenTx, { id, folder }: TaskRow): Promise<boolean> {
  tx.send(`SELECT pg_advisory_xact_lock(hashtextextended('folder:' || $1::text, 0))`, [folder]);
  const rows = await tx.query(
    `SELECT 1 FROM task WHERE folder = $2 AND workspace_mode = 'inherit_parent' AND id <> $1
     UNION ALL SELECT 1 FROM task WHERE id = $3 AND id <> $1 LIMIT 1`,
    [id, folder, folder],
  );
  return rows.length > 0;
}

/** Deletes a task of which nothing else is left, and with `folder` the note of where its folder lay. */
export function purgeTask(tx: OpenTx, { id, folder }: TaskRow, withFolder: boolean): void {
  tx.send('DELETE FROM session WHERE task_id = $1', [id]);
  if (withFolder) tx.send('DELETE FROM task_folder WHERE folder = $1', [folder]);
  tx.send('DELETE FROM task WHERE id = $1', [id]);
}
