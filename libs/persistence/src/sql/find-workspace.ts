import type { Tx } from '../database.js';

export async function workspaceExists(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('SELECT 1 FROM workspace WHERE id = $1', [id])).length > 0;
}

/** The oldest workspaces, at most `limit`. */
export function listFirstWorkspaces(tx: Tx, limit: number): Promise<readonly { readonly id: string }[]> {
  return tx.query<{ id: string }>('SELECT id FROM workspace ORDER BY created_at, id LIMIT $1', [limit]);
}
