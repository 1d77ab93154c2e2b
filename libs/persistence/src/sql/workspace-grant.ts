/** Grants between workspaces: tasks of one may send messages to tasks of the other (autopilot-contract.md §8). */
import type { Tx } from '../database.js';

export interface WorkspaceGrantRow {
  readonly workspace_id: string;
  readonly to_workspace_id: string;
  readonly created_by: string;
  readonly created_at: Date;
}

/** Stores a grant, or finds the one that there is; `null` where one of the workspaces does not exist. */
export async function insertGrant(
  tx: Tx,
  { from, to, by }: { readonly from: string; readonly to: string; readonly by: string },
): Promise<{ readonly row: WorkspaceGrantRow; readonly created: boolean } | null> {
  const [created] = await tx.query<WorkspaceGrantRow>(
    `INSERT INTO workspace_grant (workspace_id, to_workspace_id, created_by) SELECT f.id, t.id, $3 FROM workspace f, workspace t
     WHERE f.id = $1 AND t.id = $2 ON CONFLICT (workspace_id, to_workspace_id) DO NOTHING RETURNING *`,
    [from, to, by],
  );
  if (created) return { row: created, created: true };
  const [row] = await tx.query<WorkspaceGrantRow>('SELECT * FROM workspace_grant WHERE workspace_id = $1 AND to_workspace_id = $2', [
    from,
    to,
  ]);
  return row ? { row, created: false } : null;
}

/** Takes a grant back; `null` where there is none. */
export async function deleteGrant(tx: Tx, from: string, to: string): Promise<WorkspaceGrantRow | null> {
  const [row] = await tx.query<WorkspaceGrantRow>(
    'DELETE FROM workspace_grant WHERE workspace_id = $1 AND to_workspace_id = $2 RETURNING *',
    [from, to],
  );
  return row ?? null;
}

/** Grants that a workspace has, the oldest first. */
export function listGrants(tx: Tx, from: string): Promise<readonly WorkspaceGrantRow[]> {
  return tx.query<WorkspaceGrantRow>('SELECT * FROM workspace_grant WHERE workspace_id = $1 ORDER BY created_at, to_workspace_id', [from]);
}

/** Whether tasks of one workspace may send messages into the other; the grant stays as it is until the commit. */
export async function holdGrant(tx: Tx, from: string, to: string): Promise<boolean> {
  const rows = await tx.query('SELECT 1 FROM workspace_grant WHERE workspace_id = $1 AND to_workspace_id = $2 FOR KEY SHARE', [from, to]);
  return rows.length > 0;
}
