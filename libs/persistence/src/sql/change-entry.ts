/** Changes of entries that wait, under their session's lock. */
import type { Tx } from '../database.js';
import type { QueueEntryRow } from '../rows.js';

/** Replaces the text if the entry still waits at that revision; `null` when it does not. */
export async function editEntry(
  tx: Tx,
  id: string,
  { text, revision }: { readonly text: string; readonly revision: number },
): Promise<QueueEntryRow | null> {
  const [row] = await tx.query<QueueEntryRow>(
    `UPDATE queue_entry SET text = $2, revision = revision + 1 WHERE id = $1 AND state = 'queued' AND revision = $3 RETURNING *`,
    [id, text, revision],
  );
  return row ?? null;
}

/** Ids of the entries of one rank that wait in a session's queue, in their order. */
export async function listQueuedOfRank(tx: Tx, sessionId: string, rank: number): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM queue_entry WHERE session_id = $1 AND rank = $2 AND state = 'queued' ORDER BY "order"`,
    [sessionId, rank],
  );
  return rows.map(({ id }) => id);
}

/** Gives waiting entries of one rank the order of the list: they exchange the numbers that they have, by way of negative ones. */
export async function reorderEntries(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.query(
    `WITH place AS (SELECT id, row_number() OVER (ORDER BY "order") AS place, "order" FROM queue_entry WHERE id = ANY($1::uuid[])),
       wanted AS (SELECT id, place FROM unnest($1::uuid[]) WITH ORDINALITY AS list(id, place))
     UPDATE queue_entry e SET "order" = -place."order" FROM wanted JOIN place ON place.place = wanted.place WHERE e.id = wanted.id`,
    [ids],
  );
  await tx.query('UPDATE queue_entry SET "order" = -"order" WHERE id = ANY($1::uuid[])', [ids]);
}
