/** Entries that will never be delivered: `cancelled` by a decision, `failed` because their receiver ended. */
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

/** Fails all entries that still wait in a session's queue. */
export function failEntries(tx: Tx, sessionId: string, cause: string): Promise<readonly QueueEntryRow[]> {
  return tx.query<QueueEntryRow>(
    `UPDATE queue_entry SET state = 'failed', cause = $2, settled_at = now() WHERE session_id = $1 AND state = 'queued' RETURNING *`,
    [sessionId, cause],
  );
}

/** An alert about a child that still waits in one of the parent's queues. */
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
