/** Statements of the cap on a tree's turns (K24): how many it runs, and which of its sessions come next. */
import { countsTowardsCap, ENTRY_KINDS, isDriven, RUNTIME_KINDS } from '@echelon/domain';
import type { Tx } from '../database.js';
import { REACHED_ROOTS } from './workspace-root.js';

const DRIVEN = RUNTIME_KINDS.filter(isDriven);
const ORDINARY_KINDS = ENTRY_KINDS.filter(countsTowardsCap);

/** One claim or release of a turn at a time in a tree, until the transaction ends; taken after every row lock (K11). */
export async function lockTreeTurns(tx: Tx, rootId: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('turns:' || $1::text, 0))`, [rootId]);
}

/** Turns that our workers hold in the tree of a root. Held sessions are few in all trees together, so each is walked up to its root. */
export async function countTreeTurns(tx: Tx, rootId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `WITH RECURSIVE up(id, parent_id) AS (
       SELECT t.id, t.parent_id FROM session s JOIN task t ON t.id = s.task_id WHERE s.lease_owner IS NOT NULL AND s.runtime = ANY($2::text[])
       UNION ALL SELECT t.id, t.parent_id FROM up JOIN task t ON t.id = up.parent_id)
     SELECT count(*)::int AS count FROM up WHERE id = $1`,
    [rootId, DRIVEN],
  );
  return row?.count ?? 0;
}

/** A session that its tree may run next. */
export interface NextInTree {
  readonly id: string;
  /** It goes on with a turn, or opens one for an answer, a question or what an operator wrote. */
  readonly urgent: boolean;
  /** The workspace root in which its folder lies. */
  readonly root_id: string | null;
}

/**
 * Runnable sessions of the tree that nobody holds and a live worker reaches: unfinished turns first, then what is urgent, then the rest;
 * each from old to new. At most `limit` in each root, since nobody knows whose workers have a slot; a folder that lies nowhere yet counts
 * in each.
 */
export function listNextInTree(tx: Tx, rootId: string, limit: number): Promise<readonly NextInTree[]> {
  return tx.query<NextInTree>(
    `WITH RECURSIVE below(id) AS (SELECT $1::uuid UNION ALL SELECT t.id FROM task t JOIN below b ON t.parent_id = b.id),
       reached AS MATERIALIZED (SELECT DISTINCT id FROM (${REACHED_ROOTS}) w),
       ranked AS (SELECT s.id, u.id IS NOT NULL OR coalesce(e.urgent, false) AS urgent, f.workspace_root_id AS root_id,
           row_number() OVER (PARTITION BY r.id
             ORDER BY u.id IS NULL, e.urgent DESC NULLS LAST, coalesce(u.started_at, e.created_at), s.id) AS place
         FROM below JOIN session s ON s.task_id = below.id AND s.runnable AND s.lease_owner IS NULL
           JOIN task t ON t.id = s.task_id LEFT JOIN task_folder f ON f.folder = t.folder
           LEFT JOIN reached r ON f.folder IS NULL OR f.workspace_root_id = r.id
           LEFT JOIN turn u ON u.session_id = s.id AND u.status <> 'finished'
           LEFT JOIN LATERAL (SELECT q.sender_kind = 'operator' OR q.kind <> ALL($3::text[]) AS urgent, q.created_at FROM queue_entry q
             WHERE q.session_id = s.id AND q.state = 'queued' ORDER BY q.rank, q."order" LIMIT 1) e ON true
         WHERE f.folder IS NULL OR r.id IS NOT NULL)
     SELECT id, urgent, root_id FROM ranked WHERE place <= $2 GROUP BY id, urgent, root_id ORDER BY min(place), id`,
    [rootId, limit, ORDINARY_KINDS],
  );
}
