/** Marks on an unfinished turn that outlive whoever runs it: stop and completion (K18). The caller holds the session's lock. */
import type { Tx } from '../database.js';
import type { TurnRow } from '../rows.js';

export async function findTurn(tx: Tx, id: string): Promise<TurnRow | null> {
  const [row] = await tx.query<TurnRow>(
    'SELECT t.* FROM turn t JOIN session s ON s.id = t.session_id AND s.deleted_at IS NULL WHERE t.id = $1',
    [id],
  );
  return row ?? null;
}

/** Marks the turn to stop; its holder ends it at the next safe boundary, and no claim or retry runs past the mark. */
export async function requestStop(tx: Tx, turnId: string): Promise<TurnRow> {
  const [row] = await tx.query<TurnRow>(
    `UPDATE turn SET stop_requested_at = coalesce(stop_requested_at, clock_timestamp()), admission_open = false,
       status = CASE WHEN status IN ('preparing', 'running') THEN 'stopping' ELSE status END
     WHERE id = $1 AND status <> 'finished' RETURNING *`,
    [turnId],
  );
  if (!row) throw new Error(`turn ${turnId} is not open`);
  return row;
}

/** Stores the turn's completion signal; the first one stays. Settlement reads it. */
export async function storeCompletionSignal(tx: Tx, turnId: string, signal: object): Promise<boolean> {
  const rows = await tx.query('UPDATE turn SET completion_signal = $2 WHERE id = $1 AND completion_signal IS NULL RETURNING id', [
    turnId,
    JSON.stringify(signal),
  ]);
  return rows.length > 0;
}
