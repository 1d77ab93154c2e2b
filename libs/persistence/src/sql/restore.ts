/** What makes a restored dump safe to start on (operations.md, Backup and restore): nothing of the time after the dump may act on it. */
import type { OpenTx, Tx } from '../database.js';
import { isPresent } from './presence-lock.js';

/** Larger than any number of events that one deployment writes between a dump and its loss. */
const POSITION_GAP = 1_000_000_000;

/** Turns that somebody was running when the dump was made; parked ones wait on. */
export function listInterruptedTurns(
  tx: Tx,
): Promise<readonly { readonly turn_id: string; readonly session_id: string; readonly task_id: string }[]> {
  return tx.query(
    `SELECT t.id AS turn_id, s.id AS session_id, s.task_id FROM turn t JOIN session s ON s.id = t.session_id
     WHERE t.status <> 'finished' AND t.parked_for IS NULL ORDER BY t.id`,
  );
}

/** Takes every lease back, and raises every epoch above what a process of the old time may hold; what can run is announced anew. */
export function revokeLeases(tx: OpenTx): void {
  tx.send(
    `UPDATE session SET lease_epoch = lease_epoch + 1, lease_owner = NULL, lease_presence = NULL, lease_until = NULL,
       announced_at = CASE WHEN runnable THEN clock_timestamp() END, announcements = 0, state = CASE WHEN state = 'running' THEN 'idle' ELSE state END`,
  );
  tx.send('DELETE FROM outbox');
  tx.send('INSERT INTO outbox (id, session_id, priority) SELECT gen_random_uuid(), id, 2 FROM session WHERE runnable');
  tx.send(`DELETE FROM worker w WHERE NOT ${isPresent('w.presence')}`);
}

/** Revokes every token; returns how many were valid. */
export async function revokeAllTokens(tx: Tx): Promise<number> {
  const rows = await tx.query('UPDATE api_token SET revoked_at = now() WHERE revoked_at IS NULL RETURNING id');
  return rows.length;
}

/**
 * Makes every cursor of the old time unreadable: positions go on after a gap, and the newest event, where there is one, moves to its
 * other side, where it is the oldest that can be read from.
 */
export function invalidateCursors(tx: OpenTx): void {
  tx.send(`SELECT setval('event_position', (SELECT last_value FROM event_position) + ${POSITION_GAP})`);
  tx.send(`UPDATE event SET position = (SELECT last_value FROM event_position) WHERE position = (SELECT max(position) FROM event)`);
  tx.send(
    `INSERT INTO setting (key, value) SELECT 'events.oldest_position', to_jsonb(last_value::text) FROM event_position
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`,
  );
}
