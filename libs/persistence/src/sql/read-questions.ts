/** Questions as they are listed: parent questions and operator questions, with the task of their session. */
import type { Tx } from '../database.js';
import type { Keyset, PageOf } from '../keyset.js';
import type { QuestionRow, UserQuestionRow } from '../rows.js';

/** A question of either kind; `task_id` is the task of the session that asked. */
export type QuestionView = { readonly task_id: string } & (
  (QuestionRow & { readonly type: 'parent_question' }) | (UserQuestionRow & { readonly type: 'user_question' })
);

const VIEW = 'SELECT m.*, s.task_id FROM message m JOIN session s ON s.id = m.session_id AND s.deleted_at IS NULL';

export async function readQuestion(tx: Tx, id: string): Promise<QuestionView | null> {
  const [row] = await tx.query<QuestionView>(`${VIEW} WHERE m.id = $1 AND m.type IN ('parent_question', 'user_question')`, [id]);
  return row ?? null;
}

export interface QuestionFilter {
  readonly types: readonly QuestionView['type'][];
  readonly workspaceId: string | null;
  readonly taskId: string | null;
  /** Questions that this task asked, or was asked. */
  readonly involving: string | null;
  readonly status: string | null;
}

/** A page of questions from new to old. */
export function readQuestions(tx: Tx, filter: QuestionFilter, page: PageOf<Keyset>): Promise<readonly QuestionView[]> {
  return tx.query<QuestionView>(
    `${VIEW} WHERE (${filter.types.map((type) => conditionOf(type, filter.status)).join(' OR ')})
       AND ($1::uuid IS NULL OR m.workspace_id = $1)
       AND ($2::uuid IS NULL OR s.task_id = $2)
       AND ($3::uuid IS NULL OR s.task_id = $3 OR m.metadata->>'parent_task_id' = $3::text)
       AND ($4::text IS NULL OR m.metadata->>'status' = $4)
       AND ($5::timestamptz IS NULL OR (m.created_at, m.id) < ($5, $6::uuid))
     ORDER BY m.created_at DESC, m.id DESC LIMIT $7`,
    [filter.workspaceId, filter.taskId, filter.involving, filter.status, page.after?.createdAt ?? null, page.after?.id ?? null, page.take],
  );
}

/** Written out, because Postgres finds the few that wait by indexes of pending questions only where the statement names their condition. */
function conditionOf(type: QuestionView['type'], status: string | null): string {
  const ofType = `m.type = '${type}'`;
  return status === 'pending' ? `(${ofType} AND m.metadata->>'status' = 'pending')` : ofType;
}

/** The hops of a question, from the one that began the chain to the topmost (R14): each was asked for the sake of the one before. */
export function readQuestionChain(tx: Tx, id: string): Promise<readonly QuestionView[]> {
  return tx.query<QuestionView>(
    `WITH RECURSIVE down AS (
       SELECT m.id, m.metadata, 0 AS hop FROM message m WHERE m.id = $1 AND m.type = 'parent_question'
       UNION ALL SELECT m.id, m.metadata, down.hop - 1 FROM down
         JOIN message m ON m.id = (down.metadata->>'caused_by_question_id')::uuid AND m.type = 'parent_question'),
     up AS (
       SELECT id, metadata, hop FROM down WHERE hop = 0
       UNION ALL SELECT m.id, m.metadata, up.hop + 1 FROM up
         JOIN session s ON s.task_id = (up.metadata->>'parent_task_id')::uuid
         JOIN message m ON m.session_id = s.id AND m.type = 'parent_question' AND m.metadata->>'caused_by_question_id' = up.id::text)
     SELECT m.*, s.task_id FROM (SELECT id, hop FROM down UNION SELECT id, hop FROM up) hops
       JOIN message m ON m.id = hops.id JOIN session s ON s.id = m.session_id AND s.deleted_at IS NULL ORDER BY hops.hop, m.created_at, m.id`,
    [id],
  );
}
