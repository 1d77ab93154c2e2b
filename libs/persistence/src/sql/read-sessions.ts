/** Sessions as they are shown: the row, and what is derived from other rows at every reading (V1). */
import type { Tx } from '../database.js';
import type { SessionRow } from '../rows.js';

export interface SessionView extends SessionRow {
  readonly current_turn_id: string | null;
  readonly open_questions: number;
  readonly open_approvals: number;
}

const VIEW = `
SELECT s.*, u.id AS current_turn_id,
  (SELECT count(*)::int FROM message q WHERE q.session_id = s.id AND q.type = 'parent_question' AND q.metadata->>'status' = 'pending')
   + (SELECT count(*)::int FROM message q WHERE q.session_id = s.id AND q.type = 'user_question' AND q.metadata->>'status' = 'pending') AS open_questions,
  (SELECT count(*)::int FROM approval a WHERE a.turn_id = u.id AND a.state = 'pending') AS open_approvals
FROM session s LEFT JOIN turn u ON u.session_id = s.id AND u.status <> 'finished'`;

export async function readSession(tx: Tx, id: string): Promise<SessionView | null> {
  const [row] = await tx.query<SessionView>(`${VIEW} WHERE s.id = $1 AND s.deleted_at IS NULL`, [id]);
  return row ?? null;
}

/** All sessions of a task, from new to old. */
export function readSessionsOfTask(tx: Tx, taskId: string): Promise<readonly SessionView[]> {
  return tx.query<SessionView>(`${VIEW} WHERE s.task_id = $1 ORDER BY s.created_at DESC, s.id DESC`, [taskId]);
}

/** The one primary session of a task, live or not. */
export async function findPrimarySession(tx: Tx, taskId: string): Promise<SessionRow | null> {
  const [row] = await tx.query<SessionRow>('SELECT * FROM session WHERE task_id = $1 AND is_primary AND deleted_at IS NULL', [taskId]);
  return row ?? null;
}
