/** What is deleted by age, in batches (operations.md, Retention). Audit rows are never deleted. */
import type { RetentionName } from '@echelon/domain';
import type { Tx } from '../database.js';

/** Ids begin with the time of their creation, so that their index finds what is old. */
const ID_OF_AGE = `(lpad(to_hex((extract(epoch FROM now() - $1 * interval '1 day') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
const OF_AGE = `created_at < now() - $1 * interval '1 day'`;

const STATEMENTS: Readonly<Record<RetentionName, string>> = {
  // Only stamped events, never the newest; the oldest position that is left is remembered (K15).
  events: `
    WITH old AS (SELECT id FROM event WHERE ${OF_AGE} AND position < (SELECT max(position) FROM event) ORDER BY position LIMIT $2),
      gone AS (DELETE FROM event WHERE id IN (SELECT id FROM old) RETURNING position),
      noted AS (INSERT INTO setting (key, value) SELECT 'events.oldest_position', to_jsonb((max(position) + 1)::text) FROM gone HAVING count(*) > 0
        ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value)
    SELECT count(*)::int AS count FROM gone`,
  request_texts: `
    WITH old AS (SELECT id FROM turn WHERE status = 'finished' AND system_prompt IS NOT NULL AND ended_at < now() - $1 * interval '1 day' ORDER BY ended_at LIMIT $2),
      gone AS (UPDATE turn SET system_prompt = NULL WHERE id IN (SELECT id FROM old) RETURNING 1)
    SELECT count(*)::int AS count FROM gone`,
  artifacts: `
    WITH old AS (SELECT id FROM artifact WHERE id < ${ID_OF_AGE} AND ${OF_AGE} ORDER BY id LIMIT $2),
      gone AS (DELETE FROM artifact WHERE id IN (SELECT id FROM old) RETURNING 1)
    SELECT count(*)::int AS count FROM gone`,
  keyed_results: deleteOf('idempotency_record'),
  plan_writes: deleteOf('task_plan_write'),
};

/** A table whose rows are few at any time, since they are kept for a short while. */
function deleteOf(table: string): string {
  return `
    WITH gone AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${OF_AGE} LIMIT $2)) RETURNING 1)
    SELECT count(*)::int AS count FROM gone`;
}

/** Deletes one batch of what is older than so many days; returns how many rows went. */
export async function deleteOld(
  tx: Tx,
  what: RetentionName,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(STATEMENTS[what], [days, limit]);
  return row?.count ?? 0;
}
