/** Lock order (K11): task rows by id, then session rows by id, then the rest; always before the transaction's first insert. What was deleted is absent. */
import type { Tx } from '../database.js';
import type { SessionRow, TaskRow } from '../rows.js';

/** Locks tasks in id order; a task that does not exist is absent from the result. */
export function lockTasks(tx: Tx, ids: readonly string[]): Promise<readonly TaskRow[]> {
  return tx.query<TaskRow>('SELECT * FROM task WHERE id = ANY($1::uuid[]) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE', [ids]);
}

/** Locks the task of a session; none where there is no such session. */
export function lockTaskOf(tx: Tx, sessionId: string): Promise<readonly TaskRow[]> {
  return tx.query<TaskRow>(
    'SELECT * FROM task WHERE id = (SELECT task_id FROM session WHERE id = $1) AND deleted_at IS NULL FOR NO KEY UPDATE',
    [sessionId],
  );
}

/** Locks sessions in id order; a session that does not exist is absent from the result. */
export function lockSessions(tx: Tx, ids: readonly string[]): Promise<readonly SessionRow[]> {
  return tx.query<SessionRow>('SELECT * FROM session WHERE id = ANY($1::uuid[]) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE', [
    ids,
  ]);
}
