/** Statements that change the structure of a workspace's trees (K20). */
import type { Tx } from '../database.js';
import type { TaskRow } from '../rows.js';

/** One change of structure at a time in a workspace, until the transaction ends; taken before any row lock. */
export async function lockStructure(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('structure:' || $1::text, 0))`, [workspaceId]);
}

/** The same for the workspace of a task, a deleted one included; a task that is gone has none. */
export async function lockStructureOf(tx: Tx, taskId: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('structure:' || workspace_id::text, 0)) FROM task WHERE id = $1`, [taskId]);
}

/** The task and all tasks below it, with their distance from it. */
export function listSubtree(tx: Tx, id: string): Promise<readonly { readonly id: string; readonly hops: number }[]> {
  return tx.query(
    `WITH RECURSIVE below(id, hops) AS (
       SELECT $1::uuid, 0
       UNION ALL SELECT t.id, b.hops + 1 FROM task t JOIN below b ON t.parent_id = b.id)
     SELECT id, hops FROM below`,
    [id],
  );
}

/** Gives the task its parent, and all of its subtree, which is locked, their depths. */
export async function setParent(
  tx: Tx,
  task: TaskRow,
  { parentId, depth, subtree }: { readonly parentId: string | null; readonly depth: number; readonly subtree: readonly string[] },
): Promise<void> {
  await tx.query('UPDATE task SET parent_id = $2, updated_at = now() WHERE id = $1', [task.id, parentId]);
  await tx.query('UPDATE task SET depth = depth + $2 WHERE id = ANY($1::uuid[])', [subtree, depth - task.depth]);
}
