/** Entries that will never be delivered: `cancelled` by a decision, `failed` because their receiver ended. */
import type { EntryKind } from '@echelon/domain';
import type { Tx } from '../database.js';
import type { QueueEntryRow } from '../rows.js';

/** Cancels an entry that still waits; null when it was delivered or settled before. */
export async function cancelEntry(tx: Tx, id: string, cause: string): Promise<QueueEntryRow | null> {
  const [row] = await tx.query<QueueEntryRow>(
    `UPDATE queue_entry SET state = 'cancelled', cause = $2, settled_at = now() WHERE id = $1 AND state = 'queued' RETURNING *`,
    [id, cause],
  );
  return row ?? null;
}

/** Cancels what tells the parent of a question and still waits: the question itself and its reminder (S9). */
export function cancelQuestionEntries(tx: Tx, questionId: string, cause: string): Promise<readonly QueueEntryRow[]> {
  return tx.query<QueueEntryRow>(
    `UPDATE queue_entry SET state = 'cancelled', cause = $2, settled_at = now()
     WHERE question_id = $1 AND kind IN ('question', 'reminder') AND state = 'queued' RETURNING *`,
    [questionId, cause],
  );
}

/** Fails what still waits in a session's queue, but for the kinds that are kept. */
export function failEntries(tx: Tx, sessionId: string, cause: string, kept: readonly EntryKind[]): Promise<readonly QueueEntryRow[]> {
  return tx.query<QueueEntryRow>(
    `UPDATE queue_entry SET state = 'failed', cause = $2, settled_at = now()
     WHERE session_id = $1 AND state = 'queued' AND kind <> ALL($3::text[]) RETURNING *`,
    [sessionId, cause, kept],
  );
}

/** Fails what was kept in the queues of a task's ended sessions. */
export function failKeptEntries(tx: Tx, taskId: string, cause: string): Promise<readonly QueueEntryRow[]> {
  return tx.query<QueueEntryRow>(
    `UPDATE queue_entry e SET state = 'failed', cause = $2, settled_at = now() FROM session s
     WHERE s.task_id = $1 AND s.ended_at IS NOT NULL AND e.session_id = s.id AND e.state = 'queued' RETURNING e.*`,
    [taskId, cause],
  );
}

/** Moves what was kept in the queues of a task's ended sessions behind the opening prompt of a new one, in its order; that prompt itself is not repeated. */
export function takeKeptEntries(
  tx: Tx,
  to: { readonly taskId: string; readonly sessionId: string; readonly opening: string },
): Promise<readonly QueueEntryRow[]> {
  return tx.query<QueueEntryRow>(
    `WITH kept AS (
       SELECT e.id, e.text = $3 AS repeated, (row_number() OVER (ORDER BY e.rank, s.created_at, s.id, e."order"))::int AS place
       FROM session s JOIN queue_entry e ON e.session_id = s.id AND e.state = 'queued' WHERE s.task_id = $1 AND s.ended_at IS NOT NULL),
     room AS (UPDATE session SET next_order = next_order + (SELECT count(*)::int FROM kept) WHERE id = $2
       RETURNING next_order - (SELECT count(*)::int FROM kept) AS first)
     UPDATE queue_entry e SET session_id = $2, rank = 3, "order" = room.first + kept.place - 1,
       state = CASE WHEN kept.repeated THEN 'cancelled' ELSE e.state END, cause = CASE WHEN kept.repeated THEN 'repeated' END,
       settled_at = CASE WHEN kept.repeated THEN now() END
     FROM kept, room WHERE e.id = kept.id RETURNING e.*`,
    [to.taskId, to.sessionId, to.opening],
  );
}

/** An alert about a child that still waits in the queue of a live session of the parent. */
export async function findQueuedAlert(tx: Tx, parentTaskId: string, childTaskId: string): Promise<QueueEntryRow | null> {
  const [row] = await tx.query<QueueEntryRow>(
    `SELECT e.* FROM session s JOIN queue_entry e ON e.session_id = s.id
     WHERE s.task_id = $1 AND s.ended_at IS NULL AND e.kind = 'alert' AND e.state = 'queued' AND e.sender_task_id = $2 LIMIT 1`,
    [parentTaskId, childTaskId],
  );
  return row ?? null;
}

/** Replaces the text of an entry that still waits. */
export function replaceEntryText(tx: Tx, id: string, text: string): Promise<readonly QueueEntryRow[]> {
  return tx.query<QueueEntryRow>(`UPDATE queue_entry SET text = $2 WHERE id = $1 AND state = 'queued' RETURNING *`, [id, text]);
}

/** Cancels what tells of a step that the task has left, and still waits in one of its queues. */
export function cancelStepEntries(tx: Tx, taskId: string): Promise<readonly QueueEntryRow[]> {
  return tx.query<QueueEntryRow>(
    `UPDATE queue_entry SET state = 'cancelled', cause = 'step_left', settled_at = now()
     WHERE session_id IN (SELECT id FROM session WHERE task_id = $1) AND workflow_step_id IS NOT NULL AND state = 'queued' RETURNING *`,
    [taskId],
  );
}
