import type { Tx } from '../database.js';
import { newId } from '../id.js';

/** One announcement: its id is the job's id (K2). */
export interface OutboxRow {
  readonly id: string;
  readonly session_id: string;
  readonly priority: number;
}

/** Announces that a session has work, with the transaction that gave it the work (K1). */
export async function insertOutbox(tx: Tx, sessionId: string, priority: number): Promise<OutboxRow> {
  const row: OutboxRow = { id: newId(), session_id: sessionId, priority };
  await tx.query(
    `WITH announced AS (UPDATE session SET announced_at = clock_timestamp() WHERE id = $2)
     INSERT INTO outbox (id, session_id, priority) VALUES ($1, $2, $3)`,
    [row.id, sessionId, priority],
  );
  return row;
}

/** Rows that a crash left: older than `ageMs`, oldest first. */
export function listLeftOutbox(tx: Tx, ageMs: number, limit: number): Promise<readonly OutboxRow[]> {
  return tx.query<OutboxRow>(
    `SELECT id, session_id, priority FROM outbox WHERE created_at < clock_timestamp() - $1 * interval '1 millisecond' ORDER BY created_at LIMIT $2`,
    [ageMs, limit],
  );
}

/** Forgets announcements that the queue has taken. */
export async function deleteOutbox(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.query('DELETE FROM outbox WHERE id = ANY($1::uuid[])', [ids]);
}
