/**
 * A parent rests and a child still waits for its answer (S7): one reminder to the parent per question, and after a further turn
 * one notification of operators, never more.
 */
import {
  countActiveSessions,
  findEntry,
  insertNotification,
  listUnanswered,
  markReminded,
  type QuestionRow,
  type SessionRow,
  type TaskRow,
} from '@echelon/persistence';
import { reminderText } from './question-text.js';
import { enqueue } from './session-queue.js';
import type { Unit } from './unit-of-work.js';

/** Follows up on the task's unanswered questions after a turn of it has settled and nothing is left in the session's queue. */
export async function followUpQuestions(
  unit: Unit,
  { task, session }: { readonly task: TaskRow; readonly session: SessionRow },
): Promise<void> {
  const unanswered = await listUnanswered(unit, task.id);
  if (unanswered.length === 0 || (await countActiveSessions(unit, task.id, session.id)) > 0) return;
  for (const question of unanswered) {
    if (question.metadata.reminder_entry_id) await notifyOperators(unit, question, 'question_unanswered');
    else await remind(unit, question, session.id);
  }
}

async function remind(unit: Unit, question: QuestionRow, sessionId: string): Promise<void> {
  const asked = await findEntry(unit, question.metadata.parent_entry_id);
  if (!asked) throw new Error(`question ${question.id} was never told to its parent`);
  const { entry } = await enqueue(unit, {
    sessionId,
    rank: 3,
    kind: 'reminder',
    text: reminderText(asked.text),
    senderKind: 'system',
    senderTaskId: question.metadata.task_id,
    questionId: question.id,
  });
  await markReminded(unit, question.id, entry.id);
}

/** Tells operators of a question that its parent does not answer; once per question. */
export async function notifyOperators(
  unit: Unit,
  question: Pick<QuestionRow, 'id' | 'workspace_id' | 'metadata'>,
  reason: 'question_unanswered' | 'question_to_paused_parent',
): Promise<void> {
  const { parent_task_id: parentTaskId, parent_session_id: sessionId, task_id: childTaskId } = question.metadata;
  const about = { workspaceId: question.workspace_id, taskId: parentTaskId, sessionId, questionId: question.id, reason };
  const stored = await insertNotification(unit, about);
  if (!stored) return;
  await unit.tell({
    workspaceId: question.workspace_id,
    type: 'operator.notified',
    taskId: parentTaskId,
    sessionId,
    data: { reason, question_id: question.id, child_task_id: childTaskId, notification_id: stored.id },
  });
}
