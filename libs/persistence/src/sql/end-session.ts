/** Statements that end a session or rest it. The caller holds its lock. */
import type { SessionState } from '@echelon/domain';
import type { OpenTx, Tx } from '../database.js';
import type { SessionRow } from '../rows.js';

/** Ends a session and fences its holder: epoch + 1, no lease, its tokens revoked (K4), its queue paused with `pauses`; null when it had ended before. */
export async function endLiveSession(
  tx: Tx,
  id: string,
  state: Extract<SessionState, 'completed' | 'failed' | 'cancelled'>,
  { pauses }: { readonly pauses: boolean },
): Promise<SessionRow | null> {
  const [row] = await tx.query<SessionRow>(
    `WITH revoked AS (UPDATE api_token SET revoked_at = now() WHERE session_id = $1 AND revoked_at IS NULL)
     UPDATE session SET state = $2, lease_epoch = lease_epoch + 1, lease_owner = NULL, lease_presence = NULL, lease_until = NULL,
       runnable = false, auto_run = auto_run AND NOT $3, wake_at = NULL, ended_at = now(), updated_at = now()
     WHERE id = $1 AND state NOT IN ('completed', 'failed', 'cancelled') RETURNING *`,
    [id, state, pauses],
  );
  return row ?? null;
}

/** Fences a holder whose turn was taken down and rests the session in the state: epoch + 1, no lease. */
export async function fenceSession(tx: Tx, id: string, state: Extract<SessionState, 'idle' | 'waiting_for_input'>): Promise<void> {
  await tx.query(
    `UPDATE session SET state = $2, lease_epoch = lease_epoch + 1, lease_owner = NULL, lease_presence = NULL, lease_until = NULL,
       wake_at = NULL, updated_at = now() WHERE id = $1`,
    [id, state],
  );
}

/** A session whose wait for its parent ended rests until its next claim; any other is left as it is. */
export async function restWaitingSession(tx: OpenTx, id: string): Promise<void> {
  tx.send(`UPDATE session SET state = 'idle', updated_at = now() WHERE id = $1 AND state = 'waiting_for_input'`, [id]);
}

/** Pauses or resumes a session's queue; its entries are kept (autopilot-contract.md §8). */
export async function setAutoRun(tx: Tx, id: string, on: boolean): Promise<void> {
  await tx.query('UPDATE session SET auto_run = $2, updated_at = now() WHERE id = $1', [id, on]);
}
