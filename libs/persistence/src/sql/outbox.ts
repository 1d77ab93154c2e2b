import type { OpenTx, Tx } from '../database.js';

/** One announcement: its id is the job's id (K2). */
export interface OutboxRow {
  readonly id: string;
  readonly session_id: string;
  readonly priority: number;
  /** The workspace root in which the session's folder lies, as far as the announcer knows: only its workers are told. */
  readonly root_id: string | null;
}

/** Announces that sessions have work, with the transaction that gave it to them (K1). */
export function sendOutbox(tx: OpenTx, rows: readonly OutboxRow[]): void {
  send(tx, rows, 'id = ANY($2::uuid[])');
}

/** The same for sessions whose locks the transaction does not hold: a row that somebody writes keeps the time of its last announcement. */
export function sendOutboxUnlocked(tx: OpenTx, rows: readonly OutboxRow[]): void {
  send(tx, rows, 'id IN (SELECT id FROM session WHERE id = ANY($2::uuid[]) FOR NO KEY UPDATE SKIP LOCKED)');
}

function send(tx: OpenTx, rows: readonly OutboxRow[], announced: string): void {
  if (rows.length === 0) return;
  tx.send(
    `WITH announced AS (UPDATE session SET announced_at = clock_timestamp() WHERE ${announced})
     INSERT INTO outbox (id, session_id, priority) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int[])`,
    [rows.map((row) => row.id), rows.map((row) => row.session_id), rows.map((row) => row.priority)],
  );
}

/** Notes that sessions that have work are known to their tree, which announces them when it has a turn free. The caller holds their locks. */
export function markAnnounced(tx: OpenTx, sessionIds: readonly string[]): void {
  if (sessionIds.length > 0) tx.send('UPDATE session SET announced_at = clock_timestamp() WHERE id = ANY($1::uuid[])', [sessionIds]);
}

/** Rows that a crash left: older than `ageMs`, oldest first. */
export function listLeftOutbox(tx: Tx, ageMs: number, limit: number): Promise<readonly OutboxRow[]> {
  return tx.query<OutboxRow>(
    `SELECT o.id, o.session_id, o.priority, f.workspace_root_id AS root_id FROM outbox o LEFT JOIN session s ON s.id = o.session_id
       LEFT JOIN task t ON t.id = s.task_id LEFT JOIN task_folder f ON f.folder = t.folder
     WHERE o.created_at < clock_timestamp() - $1 * interval '1 millisecond' ORDER BY o.created_at LIMIT $2`,
    [ageMs, limit],
  );
}

/** Forgets announcements that the queue has taken. It does not wait for the disk: one that a crash brings back is announced again (K2). */
export async function deleteOutbox(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.query(`DELETE FROM outbox WHERE id = ANY($1::uuid[]) AND set_config('synchronous_commit', 'off', true) = 'off'`, [ids]);
}
