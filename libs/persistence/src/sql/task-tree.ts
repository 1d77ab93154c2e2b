/** Walks along parent links. Links do not change under a lock of the workspace's structure (K20). */
import type { Tx } from '../database.js';

/** The task and its ancestors, from itself to its root; empty when it does not exist. */
export async function listLineage(tx: Tx, id: string): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `WITH RECURSIVE lineage(id, parent_id, hops) AS (
       SELECT id, parent_id, 0 FROM task WHERE id = $1
       UNION ALL SELECT t.id, t.parent_id, l.hops + 1 FROM task t JOIN lineage l ON t.id = l.parent_id)
     SELECT id FROM lineage ORDER BY hops`,
    [id],
  );
  return rows.map((row) => row.id);
}

/** Tasks below this one that have neither ended nor been archived, nearest first; ended ones may stand between. */
export async function listOpenDescendants(tx: Tx, id: string): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `WITH RECURSIVE below(id, hops) AS (
       SELECT id, 1 FROM task WHERE parent_id = $1
       UNION ALL SELECT t.id, b.hops + 1 FROM task t JOIN below b ON t.parent_id = b.id)
     SELECT t.id FROM below JOIN task t ON t.id = below.id
     WHERE t.archived_at IS NULL AND t.state NOT IN ('completed', 'failed', 'cancelled') ORDER BY below.hops, t.created_at, t.id`,
    [id],
  );
  return rows.map((row) => row.id);
}

/** Direct children of the tasks. */
export async function listChildIds(tx: Tx, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>('SELECT id FROM task WHERE parent_id = ANY($1::uuid[]) ORDER BY created_at, id', [ids]);
  return rows.map((row) => row.id);
}

/** Where and how long ago creations are counted. */
export interface RecentCreations {
  readonly workspaceId: string;
  readonly rootId: string;
  readonly seconds: number;
}

/** Tasks created lately in the tree of a root: recent ones are few, so each is walked up to its root. */
export async function countRecentlyCreated(tx: Tx, { workspaceId, rootId, seconds }: RecentCreations): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `WITH RECURSIVE up(recent, id, parent_id) AS (
       SELECT id, id, parent_id FROM task WHERE workspace_id = $1 AND created_at > now() - $3 * interval '1 second'
       UNION ALL SELECT up.recent, t.id, t.parent_id FROM up JOIN task t ON t.id = up.parent_id)
     SELECT count(*)::int AS count FROM up WHERE id = $2`,
    [workspaceId, rootId, seconds],
  );
  return row?.count ?? 0;
}
