/** What health checks and metrics ask of the database. */
import type { Tx } from '../database.js';

/** Whether the database answers. */
export function databaseAnswers(tx: Tx): Promise<boolean> {
  return tx.query('SELECT 1').then(
    () => true,
    () => false,
  );
}

/** The database's time: in a transaction, when that began (K19). */
export async function readTime(tx: Tx): Promise<Date> {
  const [row] = await tx.query<{ now: Date }>('SELECT now()::timestamptz(3) AS now');
  if (!row) throw new Error('the database did not say its time');
  return row.now;
}

/** Parent questions that are pending, in all workspaces. */
export async function countOpenQuestions(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM message WHERE type = 'parent_question' AND metadata->>'status' = 'pending'`,
  );
  return row?.count ?? 0;
}
