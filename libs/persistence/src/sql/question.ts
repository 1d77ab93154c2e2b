/**
 * Parent questions: hidden messages of type `parent_question`, whose metadata is the only source of truth for the wait.
 *
 * Q1  A question leaves `pending` once: every statement that ends one says so in its WHERE (K8).
 */
import type { QuestionStatus } from '@echelon/domain';
import type { Tx } from '../database.js';
import type { QuestionRow } from '../rows.js';
import { NOW_AS_JSON } from './now-as-json.js';

export async function findQuestion(tx: Tx, id: string): Promise<QuestionRow | null> {
  const [row] = await tx.query<QuestionRow>(`SELECT * FROM message WHERE id = $1 AND type = 'parent_question'`, [id]);
  return row ?? null;
}

/** The question that the session waits for, if it does. */
export async function findPendingQuestion(tx: Tx, sessionId: string): Promise<QuestionRow | null> {
  const [row] = await tx.query<QuestionRow>(
    `SELECT * FROM message WHERE session_id = $1 AND type = 'parent_question' AND metadata->>'status' = 'pending'`,
    [sessionId],
  );
  return row ?? null;
}

/** The question that this session asked under the key, whatever its state (K16). */
export async function findQuestionByKey(tx: Tx, sessionId: string, key: string): Promise<QuestionRow | null> {
  const [row] = await tx.query<QuestionRow>(
    `SELECT * FROM message WHERE session_id = $1 AND type = 'parent_question' AND metadata->>'idempotency_key' = $2`,
    [sessionId, key],
  );
  return row ?? null;
}

/** Pending questions that wait for an answer of the task, oldest first. */
export function listQuestionsTo(tx: Tx, parentTaskId: string): Promise<readonly QuestionRow[]> {
  return tx.query<QuestionRow>(
    `SELECT * FROM message WHERE type = 'parent_question' AND metadata->>'status' = 'pending' AND metadata->>'parent_task_id' = $1 ORDER BY id`,
    [parentTaskId],
  );
}

/** Ends a pending question without an answer; null when something else ended it before. */
export async function endPendingQuestion(
  tx: Tx,
  id: string,
  end: { readonly status: Exclude<QuestionStatus, 'pending' | 'answered'>; readonly cause: string },
): Promise<QuestionRow | null> {
  const [row] = await tx.query<QuestionRow>(
    `UPDATE message SET metadata = metadata || jsonb_build_object('status', $2::text, 'cause', $3::text, 'ended_at', ${NOW_AS_JSON})
     WHERE id = $1 AND type = 'parent_question' AND metadata->>'status' = 'pending' RETURNING *`,
    [id, end.status, end.cause],
  );
  return row ?? null;
}

/** Records the answer of a pending question; null when something else ended it before. */
export async function answerPendingQuestion(
  tx: Tx,
  id: string,
  answer: { readonly text: string; readonly sessionId: string; readonly deliveryId: string },
): Promise<QuestionRow | null> {
  const [row] = await tx.query<QuestionRow>(
    `UPDATE message SET metadata = metadata || jsonb_build_object('status', 'answered', 'ended_at', ${NOW_AS_JSON},
       'answer', jsonb_build_object('text', $2::text, 'session_id', $3::text, 'delivery_id', $4::text, 'at', ${NOW_AS_JSON}))
     WHERE id = $1 AND type = 'parent_question' AND metadata->>'status' = 'pending' RETURNING *`,
    [id, answer.text, answer.sessionId, answer.deliveryId],
  );
  return row ?? null;
}

/** Points a pending question to another entry of its parent's, whose reader may be reminded anew: the session that was told has ended. */
export async function redirectQuestion(tx: Tx, id: string, to: { readonly sessionId: string; readonly entryId: string }): Promise<void> {
  await tx.query(
    `UPDATE message SET metadata = (metadata - 'reminder_entry_id') || jsonb_build_object('parent_session_id', $2::text, 'parent_entry_id', $3::text)
     WHERE id = $1 AND type = 'parent_question' AND metadata->>'status' = 'pending'`,
    [id, to.sessionId, to.entryId],
  );
}
