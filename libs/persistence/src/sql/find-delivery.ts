/** Deliveries of messages: entries by their sender's key, and what waits before them. */
import type { Tx } from '../database.js';
import type { QueueEntryRow, SessionRow } from '../rows.js';

/** The delivery of a sender's key, if there was one (K16). */
export async function findEntryByKey(tx: Tx, scope: string, keyHash: Buffer): Promise<QueueEntryRow | null> {
  const [row] = await tx.query<QueueEntryRow>('SELECT * FROM queue_entry WHERE idempotency_scope = $1 AND idempotency_key_hash = $2', [
    scope,
    keyHash,
  ]);
  return row ?? null;
}

/** Ordinary entries that wait in a session's queue: only those count towards the cap (A10). */
export async function countQueuedPrompts(tx: Tx, sessionId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM queue_entry WHERE session_id = $1 AND state = 'queued' AND kind = 'prompt'`,
    [sessionId],
  );
  return row?.count ?? 0;
}

/** All sessions of a task, ended ones too, oldest first. */
export function listSessions(tx: Tx, taskId: string): Promise<readonly SessionRow[]> {
  return tx.query<SessionRow>('SELECT * FROM session WHERE task_id = $1 ORDER BY created_at, id', [taskId]);
}
