import type { Tx } from '../database.js';
import { newId } from '../id.js';
import type { WorkspaceRow } from '../rows.js';

/** Stores a workspace; `null` where the name is taken. */
export async function insertWorkspace(tx: Tx, name: string): Promise<WorkspaceRow | null> {
  const [row] = await tx.query<WorkspaceRow>(
    'INSERT INTO workspace (id, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING id, name, created_at',
    [newId(), name],
  );
  return row ?? null;
}
