import type { Tx } from '../database.js';

export async function workspaceExists(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('SELECT 1 FROM workspace WHERE id = $1', [id])).length > 0;
}

/** The workspace of who names none: the only one, or the one named `default`, which the first start makes. */
export async function findDefaultWorkspace(tx: Tx): Promise<{ readonly id: string } | null> {
  const [row] = await tx.query<{ id: string }>(
    `SELECT id FROM workspace WHERE name = 'default' OR (SELECT count(*) FROM (SELECT FROM workspace LIMIT 2) AS first_two) = 1`,
  );
  return row ?? null;
}
