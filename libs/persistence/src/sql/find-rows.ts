/** Single rows by id, for an intention that knows what it looks for. Reading locks nothing; what was deleted is absent. */
import type { Tx } from '../database.js';
import type { QueueEntryRow, SessionRow, TaskRow } from '../rows.js';

export async function findTask(tx: Tx, id: string): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>('SELECT * FROM task WHERE id = $1 AND deleted_at IS NULL', [id]);
  return row ?? null;
}

export async function findSession(tx: Tx, id: string): Promise<SessionRow | null> {
  const [row] = await tx.query<SessionRow>('SELECT * FROM session WHERE id = $1 AND deleted_at IS NULL', [id]);
  return row ?? null;
}

export async function findEntry(tx: Tx, id: string): Promise<QueueEntryRow | null> {
  const [row] = await tx.query<QueueEntryRow>('SELECT * FROM queue_entry WHERE id = $1', [id]);
  return row ?? null;
}

/**
 * Sessions of the task beside `besides` that wait for an answer or have an open turn, also one that nobody holds now: parked, handed over,
 * or left behind by a lease that is gone.
 */
export async function countActiveSessions(tx: Tx, taskId: string, besides: string | null): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM session s WHERE task_id = $1 AND id IS DISTINCT FROM $2::uuid
       AND (state = 'waiting_for_input' OR EXISTS (SELECT 1 FROM turn WHERE session_id = s.id AND status <> 'finished'))`,
    [taskId, besides],
  );
  return row?.count ?? 0;
}

/** The sweep looks at the session again after so many milliseconds (K13). */
export async function setWakeAt(tx: Tx, sessionId: string, afterMs: number): Promise<void> {
  await tx.query(`UPDATE session SET wake_at = clock_timestamp() + $2 * interval '1 millisecond' WHERE id = $1`, [sessionId, afterMs]);
}
