/** Statements of the lease (K3, K4, K12). A lease is live while its time has not passed and its process's presence lock is held. */
import type { OpenTx, Tx } from '../database.js';
import type { SessionRow, TurnRow } from '../rows.js';
import { isPresent } from './presence-lock.js';

/** How long a lease lasts without renewal. */
export const LEASE_MS = 3_000;

/** Who holds a session, and since which epoch. Every later write of the holder carries it. */
export interface Lease {
  readonly sessionId: string;
  readonly epoch: string;
}

export interface LeaseHolder {
  readonly owner: string;
  /** Advisory lock number of the holder's process; `null` for a holder without a process of ours. */
  readonly presence: string | null;
  readonly leaseMs: number;
}

/** Whether a session's lease is live, judged by the database's clock and locks. */
export async function isLeaseLive(tx: Tx, sessionId: string): Promise<boolean> {
  const [row] = await tx.query<{ live: boolean }>(
    `SELECT lease_owner IS NOT NULL AND lease_until > clock_timestamp() AND (lease_presence IS NULL OR ${isPresent('lease_presence')}) AS live
     FROM session WHERE id = $1`,
    [sessionId],
  );
  return row?.live === true;
}

/** Takes the lease under the session's lock: epoch + 1. */
export async function takeLease(tx: Tx, sessionId: string, holder: LeaseHolder): Promise<Lease> {
  const [row] = await tx.query<{ lease_epoch: string }>(
    `UPDATE session SET lease_owner = $2, lease_presence = $3, lease_epoch = lease_epoch + 1,
       lease_until = clock_timestamp() + $4 * interval '1 millisecond', state = 'running', wake_at = NULL, updated_at = now()
     WHERE id = $1 RETURNING lease_epoch`,
    [sessionId, holder.owner, holder.presence, holder.leaseMs],
  );
  if (!row) throw new Error(`session ${sessionId} does not exist`);
  return { sessionId, epoch: row.lease_epoch };
}

/** Gives the lease back; the state is the one that settlement decided. */
export async function releaseLease(tx: OpenTx, sessionId: string, state: SessionRow['state']): Promise<void> {
  tx.send(
    `UPDATE session SET lease_owner = NULL, lease_presence = NULL, lease_until = NULL, state = $2, updated_at = now(),
       ended_at = CASE WHEN $2 IN ('completed', 'failed', 'cancelled') THEN coalesce(ended_at, now()) ELSE ended_at END WHERE id = $1`,
    [sessionId, state],
  );
}

/**
 * Extends the leases of one process ($1: presence, $2: ms, $3: sessions that it holds). Run by the presence thread (K12). A row that
 * somebody writes is left for the next renewal: waiting for it would keep all the others locked meanwhile.
 */
export const RENEW_LEASES = `
WITH held AS (SELECT id FROM session WHERE id = ANY($3::uuid[]) AND lease_presence = $1 AND lease_owner IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED)
UPDATE session s SET lease_until = clock_timestamp() + $2 * interval '1 millisecond' FROM held WHERE s.id = held.id`;

/** What became of the sessions that a process ($1: presence) believes to hold ($2), read without locks (K4, K18). */
export const READ_HELD = `
SELECT s.id AS session_id, s.lease_epoch AS epoch, s.lease_presence IS NOT DISTINCT FROM $1::bigint AS ours,
  EXISTS (SELECT 1 FROM turn t WHERE t.session_id = s.id AND t.status <> 'finished' AND t.stop_requested_at IS NOT NULL) AS stop
FROM session s WHERE s.id = ANY($2::uuid[])`;

/**
 * Takes or keeps the election as the one sweeper ($1: presence, $2: ms) by the database's clock (K12): free when its time has passed or
 * when its holder's process is gone. A holder that stands still loses it.
 */
export const TAKE_ELECTION = `
INSERT INTO setting (key, value) VALUES ('sweeper', jsonb_build_object('presence', $1::text, 'until', clock_timestamp() + $2 * interval '1 millisecond'))
ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value
WHERE setting.value->>'presence' = $1::text OR (setting.value->>'until')::timestamptz < clock_timestamp()
  OR NOT ${isPresent("(setting.value->>'presence')::bigint")}
RETURNING key`;

/** Opens the turn of an entry: the entry is delivered, the turn has the session's next number. */
export async function openTurn(
  tx: Tx,
  turn: { readonly id: string; readonly sessionId: string; readonly entryId: string; readonly contract: object },
): Promise<TurnRow> {
  const [row] = await tx.query<TurnRow>(
    `WITH next AS (UPDATE session SET next_turn = next_turn + 1 WHERE id = $2 RETURNING workspace_id, next_turn - 1 AS number),
       delivered AS (UPDATE queue_entry SET state = 'delivered', turn_id = $1, settled_at = now() WHERE id = $3 AND state = 'queued' RETURNING id)
     INSERT INTO turn (id, workspace_id, session_id, number, opening_entry_id, contract)
     SELECT $1, next.workspace_id, $2, next.number, delivered.id, $4 FROM next, delivered RETURNING *`,
    [turn.id, turn.sessionId, turn.entryId, JSON.stringify(turn.contract)],
  );
  if (!row) throw new Error(`entry ${turn.entryId} was not queued`);
  return row;
}

/** Milliseconds since the lease was renewed last: how long nobody has run the session. */
export async function readSilence(tx: Tx, lease: Pick<SessionRow, 'lease_until'>): Promise<number> {
  const [row] = await tx.query<{ silent: number }>(
    `SELECT greatest(0, extract(epoch FROM clock_timestamp() - $1::timestamptz) * 1000 + $2)::int AS silent`,
    [lease.lease_until, LEASE_MS],
  );
  return row?.silent ?? 0;
}
