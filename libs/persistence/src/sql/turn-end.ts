/** Statements that change an unfinished turn under its session's lock. */
import type { ParkReason, TurnOutcome, TurnStatus } from '@echelon/domain';
import type { Tx } from '../database.js';
import type { TurnRow } from '../rows.js';

export interface TurnEnd {
  readonly outcome: TurnOutcome;
  readonly detail?: string | null;
}

/** Closes a turn with its outcome; a finished turn is left as it is and gives null. */
export async function finishTurn(tx: Tx, turnId: string, end: TurnEnd): Promise<TurnRow | null> {
  const [row] = await tx.query<TurnRow>(
    `UPDATE turn SET status = 'finished', outcome = $2, outcome_detail = $3, admission_open = false, parked_for = NULL, resume_at = NULL, ended_at = now()
     WHERE id = $1 AND status <> 'finished' RETURNING *`,
    [turnId, end.outcome, end.detail ?? null],
  );
  return row ?? null;
}

/** Marks a turn as parked (K13). */
export async function parkTurn(tx: Tx, turnId: string, park: { readonly status: TurnStatus; readonly reason: ParkReason }): Promise<void> {
  await tx.query('UPDATE turn SET status = $2, parked_for = $3 WHERE id = $1', [turnId, park.status, park.reason]);
}

/** A claimed turn runs from here; until its first barrier a takeover counts as involuntary without progress (K22). */
export async function beginTurn(tx: Tx, turnId: string): Promise<TurnRow> {
  const [row] = await tx.query<TurnRow>(
    `UPDATE turn SET status = CASE WHEN stop_requested_at IS NULL THEN 'running' ELSE 'stopping' END, parked_for = NULL, resume_at = NULL, last_barrier_at = NULL
     WHERE id = $1 AND status <> 'finished' RETURNING *`,
    [turnId],
  );
  if (!row) throw new Error(`turn ${turnId} is not open`);
  return row;
}

/** Counts a takeover: without a barrier since the claim one more, else none (K22). */
export async function countTakeover(tx: Tx, turnId: string): Promise<number> {
  const [row] = await tx.query<{ involuntary_resumes: number }>(
    `UPDATE turn SET involuntary_resumes = CASE WHEN last_barrier_at IS NULL THEN involuntary_resumes + 1 ELSE 0 END WHERE id = $1 RETURNING involuntary_resumes`,
    [turnId],
  );
  return row?.involuntary_resumes ?? 0;
}

/** Delays the next claim of a turn (K22); `wake_at` brings the sweep to it. */
export async function backOff(tx: Tx, turn: Pick<TurnRow, 'id' | 'session_id'>, milliseconds: number): Promise<void> {
  await tx.query(
    `WITH woken AS (UPDATE session SET wake_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE id = $2)
     UPDATE turn SET resume_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE id = $1`,
    [turn.id, turn.session_id, milliseconds],
  );
}

/** The session's unfinished turn, if it has one. */
export async function findOpenTurn(tx: Tx, sessionId: string): Promise<TurnRow | null> {
  const [row] = await tx.query<TurnRow>(`SELECT * FROM turn WHERE session_id = $1 AND status <> 'finished'`, [sessionId]);
  return row ?? null;
}
