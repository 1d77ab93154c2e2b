/** Statements of an ask (autopilot-contract.md §4). The caller holds the asking session's lock. */
import type { OpenTx, Tx } from '../database.js';
import type { QuestionRow, UserQuestionRow } from '../rows.js';
import { NOW_AS_JSON } from './now-as-json.js';

/** Ends the turn with its question: settlement and the refusal of later calls read this column (K6b). The first question stays. */
export async function markAsked(tx: OpenTx, turnId: string, questionId: string): Promise<void> {
  tx.send('UPDATE turn SET ended_by_question_id = $2 WHERE id = $1 AND ended_by_question_id IS NULL', [turnId, questionId]);
}

/**
 * The question for whose sake a turn runs (R14): the one that opened it, or that it was reminded of. A turn that an answer opened
 * goes on with what its own question was asked for, while that still waits.
 */
export async function findCausingQuestion(tx: Tx, openingEntryId: string): Promise<QuestionRow | null> {
  const [row] = await tx.query<QuestionRow>(
    `SELECT cause.* FROM queue_entry e JOIN message q ON q.id = e.question_id AND q.type = 'parent_question'
     JOIN message cause ON cause.type = 'parent_question' AND cause.id = CASE e.kind
       WHEN 'answer' THEN (q.metadata->>'caused_by_question_id')::uuid
       WHEN 'question' THEN q.id
       WHEN 'reminder' THEN q.id END
     WHERE e.id = $1 AND (e.kind <> 'answer' OR cause.metadata->>'status' = 'pending')`,
    [openingEntryId],
  );
  return row ?? null;
}

export async function findUserQuestion(tx: Tx, id: string): Promise<UserQuestionRow | null> {
  const [row] = await tx.query<UserQuestionRow>(`SELECT * FROM message WHERE id = $1 AND type = 'user_question'`, [id]);
  return row ?? null;
}

/** The operator question that this session asked under the key, or one with the same body that still waits (V4, K16). */
export async function findSameUserQuestion(
  tx: Tx,
  sessionId: string,
  same: { readonly key: string; readonly bodyHash: string },
): Promise<UserQuestionRow | null> {
  const [row] = await tx.query<UserQuestionRow>(
    `SELECT * FROM message WHERE session_id = $1 AND type = 'user_question' AND (metadata->>'idempotency_key' = $2
       OR (metadata->>'status' = 'pending' AND metadata->>'body_hash' = $3))
     ORDER BY metadata->>'idempotency_key' = $2 DESC, sequence LIMIT 1`,
    [sessionId, same.key, same.bodyHash],
  );
  return row ?? null;
}

/** Records how an operator question ends; null when somebody decided, or nobody waits for it any more. */
export async function decideUserQuestion(
  tx: Tx,
  id: string,
  decision: {
    readonly status: Exclude<UserQuestionRow['metadata']['status'], 'pending'>;
    readonly answers: Readonly<Record<string, string>> | null;
    readonly rejectReason: string | null;
    readonly by: string;
  },
): Promise<UserQuestionRow | null> {
  const [row] = await tx.query<UserQuestionRow>(
    `UPDATE message SET metadata = metadata || jsonb_build_object('status', $2::text, 'answers', $3::jsonb, 'reject_reason', $4::text,
       'decided_by', $5::text, 'ended_at', ${NOW_AS_JSON})
     WHERE id = $1 AND type = 'user_question' AND metadata->>'status' = 'pending' RETURNING *`,
    [id, decision.status, decision.answers && JSON.stringify(decision.answers), decision.rejectReason, decision.by],
  );
  return row ?? null;
}
