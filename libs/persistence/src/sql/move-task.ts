/** Statements that move a task along its machine. The caller holds its lock. */
import type { TaskState } from '@echelon/domain';
import type { Tx } from '../database.js';
import type { SessionRow, TaskRow } from '../rows.js';

export interface TaskMove {
  readonly from: TaskState;
  readonly to: TaskState;
  readonly ended: boolean;
  /** Kept where absent. */
  readonly result?: string | undefined;
}

/** Moves a task from the state that the caller saw; null when it is in another one by now. */
export async function updateTaskState(tx: Tx, id: string, move: TaskMove): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>(
    `UPDATE task SET state = $3, result = coalesce($4, result), ended_at = CASE WHEN $5 THEN now() ELSE ended_at END, updated_at = now()
     WHERE id = $1 AND state = $2 RETURNING *`,
    [id, move.from, move.to, move.result ?? null, move.ended],
  );
  return row ?? null;
}

/** Counts a child out that ended, and gives the parent's row after it (K20). */
export async function countChildOut(tx: Tx, parentId: string): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>(
    `UPDATE task SET open_children = open_children - 1 WHERE id = $1 AND open_children > 0 RETURNING *`,
    [parentId],
  );
  return row ?? null;
}

/** Direct children of the task, oldest first. */
export function listChildren(tx: Tx, taskId: string, limit: number): Promise<readonly TaskRow[]> {
  return tx.query<TaskRow>('SELECT * FROM task WHERE parent_id = $1 ORDER BY created_at, id LIMIT $2', [taskId, limit]);
}

/** Sessions of the task that have not ended, oldest first. */
export function listLiveSessions(tx: Tx, taskId: string): Promise<readonly SessionRow[]> {
  return tx.query<SessionRow>(
    `SELECT * FROM session WHERE task_id = $1 AND state NOT IN ('completed', 'failed', 'cancelled') ORDER BY created_at, id`,
    [taskId],
  );
}
