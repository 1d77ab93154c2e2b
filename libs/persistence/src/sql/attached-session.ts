/** Statements of sessions whose agent somebody else runs. Their lease has an owner and a time, and no process of ours. */
import type { OpenTx, Tx } from '../database.js';
import type { QueueEntryRow } from '../rows.js';

export interface Attachment {
  readonly sessionId: string;
  readonly owner: string;
  readonly idleMs: number;
}

/**
 * A call of the agent: the lease lasts from here, and what was delivered has arrived. Gives the session's open turn of this owner
 * that nobody is stopping; where there is none, nothing was changed.
 */
export async function touchAttached(tx: Tx, { sessionId, owner, idleMs }: Attachment): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(
    `WITH held AS (UPDATE session s SET lease_until = clock_timestamp() + $3 * interval '1 millisecond'
       WHERE s.id = $1 AND s.lease_owner = $2 AND s.lease_until > clock_timestamp()
         AND EXISTS (SELECT 1 FROM turn t WHERE t.session_id = s.id AND t.status <> 'finished' AND t.stop_requested_at IS NULL) RETURNING s.id)
     UPDATE turn t SET last_barrier_at = clock_timestamp() FROM held WHERE t.session_id = held.id AND t.status <> 'finished' RETURNING t.id`,
    [sessionId, owner, idleMs],
  );
  return row?.id ?? null;
}

/** Marks why an entry that the system wrote is there. */
export function setCause(tx: OpenTx, entryId: string, cause: string): void {
  tx.send('UPDATE queue_entry SET cause = $2 WHERE id = $1', [entryId, cause]);
}

/** What an operator decided is told once: the waiting notice of it is taken back when the agent has read it otherwise. */
export function cancelQuestionNotice(tx: Tx, questionId: string): Promise<readonly QueueEntryRow[]> {
  return tx.query<QueueEntryRow>(
    `UPDATE queue_entry SET state = 'cancelled', cause = 'read', settled_at = now()
     WHERE question_id = $1 AND kind = 'notice' AND state = 'queued' RETURNING *`,
    [questionId],
  );
}
