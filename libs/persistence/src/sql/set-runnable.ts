import type { Tx } from '../database.js';

/** Stores the answer of the admissibility function (K10); tells whether a live holder will see the work at its settlement. */
export async function setRunnable(tx: Tx, sessionId: string, runnable: boolean): Promise<{ readonly held: boolean }> {
  const [row] = await tx.query<{ held: boolean }>(
    `UPDATE session SET runnable = $2, announcements = CASE WHEN $2 THEN announcements ELSE 0 END WHERE id = $1
     RETURNING lease_owner IS NOT NULL AND lease_until > clock_timestamp() AS held`,
    [sessionId, runnable],
  );
  return { held: row?.held === true };
}
