/**
 * Ending a parent question without an answer (autopilot-contract.md §6). The caller holds the locks of the question's session
 * and of the session whose queue holds it.
 */
import { needsNotice, type QuestionEndCause } from '@echelon/domain';
import {
  cancelQuestionEntries,
  endPendingQuestion,
  findEntry,
  findQuestion,
  findSession,
  listQuestionsTo,
  type QuestionRow,
  redirectQuestion,
  restWaitingSession,
} from '@echelon/persistence';
import { notifyOperators } from '../question-follow-up.js';
import { noticeText } from '../question-text.js';
import { enqueue, followChange, refreshWork } from '../session-queue.js';
import type { Transactions, Unit } from '../unit-of-work.js';
import { lockQuestion } from './lock.js';
import { reachTask } from './receivers.js';

/**
 * Ends a pending question: one conditional update (K8), the parent's undelivered entries are cancelled (S9), a child that lives
 * on is told (K9), and what both sessions do next is decided anew. Returns whether this call ended it.
 */
export async function endQuestion(
  unit: Unit,
  question: QuestionRow,
  status: 'superseded' | 'stale',
  cause: QuestionEndCause,
): Promise<boolean> {
  const ended = await endPendingQuestion(unit, question.id, { status, cause });
  if (!ended) return false;
  await withdrawQuestionEntries(unit, ended, status);
  await restWaitingSession(unit, ended.session_id);
  await unit.tell({
    workspaceId: ended.workspace_id,
    type: 'question.ended',
    taskId: ended.metadata.task_id,
    sessionId: ended.session_id,
    data: { question_id: ended.id, status, cause, parent_task_id: ended.metadata.parent_task_id },
  });
  if (needsNotice(cause)) await notify(unit, ended, cause);
  else await refreshWork(unit, ended.session_id);
  return true;
}

/** Takes back what would tell the parent of a question that is over. */
export async function withdrawQuestionEntries(unit: Unit, question: QuestionRow, cause: string): Promise<void> {
  await followChange(unit, await cancelQuestionEntries(unit, question.id, cause));
}

async function notify(unit: Unit, question: QuestionRow, cause: QuestionEndCause): Promise<void> {
  await enqueue(unit, {
    sessionId: question.session_id,
    rank: 0,
    kind: 'notice',
    text: noticeText(cause, question.metadata.questions),
    senderKind: 'system',
    questionId: question.id,
  });
}

/** Ends every question that waits for an answer of the task. */
export async function endQuestionsTo(unit: Unit, taskId: string, cause: QuestionEndCause): Promise<void> {
  for (const question of await listQuestionsTo(unit, taskId)) await endQuestion(unit, question, 'stale', cause);
}

/**
 * A session of a parent has ended: the questions that it was told and did not answer are told to another session that can; if there
 * is none, every question to the task is stale (S4).
 */
export async function releaseQuestionsOf(
  unit: Unit,
  session: { readonly id: string; readonly task_id: string },
  cause: QuestionEndCause,
): Promise<void> {
  const reach = await reachTask(unit, session.task_id);
  if (reach.kind === 'none') return endQuestionsTo(unit, session.task_id, cause);
  for (const question of await listQuestionsTo(unit, session.task_id)) {
    if (question.metadata.parent_session_id === session.id) await moveQuestion(unit, question, reach.sessionId);
  }
}

async function moveQuestion(unit: Unit, question: QuestionRow, sessionId: string): Promise<void> {
  const held = await findEntry(unit, question.metadata.parent_entry_id);
  if (!held) throw new Error(`question ${question.id} was never told to its parent`);
  await withdrawQuestionEntries(unit, question, 'redirected');
  const { entry } = await enqueue(unit, {
    sessionId,
    rank: held.rank,
    kind: 'question',
    text: held.text,
    senderKind: 'task',
    senderTaskId: held.sender_task_id,
    senderSessionId: held.sender_session_id,
    questionId: question.id,
  });
  await redirectQuestion(unit, question.id, { sessionId, entryId: entry.id });
  const told = await findSession(unit, sessionId);
  if (told?.auto_run !== false) return;
  const moved = { ...question, metadata: { ...question.metadata, parent_session_id: sessionId } };
  await notifyOperators(unit, moved, 'question_to_paused_parent');
}

/** Ends a question whose profile's time-out has passed (S8); one that has ended otherwise is left. */
export async function expireQuestion(transactions: Transactions, questionId: string): Promise<boolean> {
  return transactions.run(async (unit) => {
    const found = await findQuestion(unit, questionId);
    const locked = found && (await lockQuestion(unit, found));
    if (!locked || !(await findSession(unit, locked.session.id))) return false;
    return endQuestion(unit, locked.question, 'stale', 'timeout');
  });
}
