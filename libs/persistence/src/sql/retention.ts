/** What is deleted by age, in small batches (operations.md, Retention). Audit rows are never deleted. */
import type { Tx } from '../database.js';

/** Deletes stamped events of an age, but never the newest, and remembers the oldest position that is left (K15). Returns how many. */
export async function deleteOldEvents(tx: Tx, days: number, limit: number): Promise<number> {
  const [row] = await tx.query<{ deleted: number }>(
    `WITH old AS (SELECT id FROM event WHERE created_at < now() - $1 * interval '1 day' AND position < (SELECT max(position) FROM event)
         ORDER BY position LIMIT $2),
       gone AS (DELETE FROM event WHERE id IN (SELECT id FROM old) RETURNING position),
       noted AS (INSERT INTO setting (key, value) SELECT 'events.oldest_position', to_jsonb((max(position) + 1)::text) FROM gone HAVING count(*) > 0
         ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value)
     SELECT count(*)::int AS deleted FROM gone`,
    [days, limit],
  );
  return row?.deleted ?? 0;
}

/** Deletes full texts of shortened results of an age. */
export async function deleteOldArtifacts(tx: Tx, days: number, limit: number): Promise<void> {
  await tx.query(
    `DELETE FROM artifact WHERE id IN (SELECT id FROM artifact WHERE created_at < now() - $1 * interval '1 day' ORDER BY created_at LIMIT $2)`,
    [days, limit],
  );
}

/** Deletes results of keyed REST calls of an age; the same key then starts anew. */
export async function deleteOldKeyedResults(tx: Tx, days: number, limit: number): Promise<void> {
  await tx.query(
    `DELETE FROM idempotency_record WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_record WHERE created_at < now() - $1 * interval '1 day' LIMIT $2))`,
    [days, limit],
  );
}
