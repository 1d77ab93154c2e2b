/** Questions that a parent has seen and left unanswered (S7). The caller holds the locks of the sessions that wait for it. */
import type { Tx } from '../database.js';
import type { QuestionRow } from '../rows.js';

/**
 * Pending questions to the task whose last prompt, the question or its reminder, has opened a turn that is over, and of which something
 * is left to be done: the reminder, or the one notification of operators.
 */
export function listUnanswered(tx: Tx, parentTaskId: string): Promise<readonly QuestionRow[]> {
  return tx.query<QuestionRow>(
    `SELECT q.* FROM message q
     JOIN queue_entry e ON e.id = coalesce(q.metadata->>'reminder_entry_id', q.metadata->>'parent_entry_id')::uuid
     JOIN turn told ON told.id = e.turn_id AND told.status = 'finished'
     WHERE q.type = 'parent_question' AND q.metadata->>'status' = 'pending' AND q.metadata->>'parent_task_id' = $1
       AND (q.metadata->>'reminder_entry_id' IS NULL OR NOT EXISTS (SELECT 1 FROM operator_notification n WHERE n.question_id = q.id))
     ORDER BY q.id`,
    [parentTaskId],
  );
}

/** Records the one reminder of a question. */
export async function markReminded(tx: Tx, questionId: string, entryId: string): Promise<void> {
  await tx.query(`UPDATE message SET metadata = metadata || jsonb_build_object('reminder_entry_id', $2::text) WHERE id = $1`, [
    questionId,
    entryId,
  ]);
}
