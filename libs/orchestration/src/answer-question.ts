/**
 * The parent's answer (autopilot-contract.md §5): one conditional update from `pending`, the child's queue entry and the wake-up,
 * in one transaction (K8).
 */
import type { SentMessage } from '@echelon/contracts';
import { decideAnswer, isRefusal, type Limits, refuse } from '@echelon/domain';
import {
  answerPendingQuestion,
  findQuestion,
  findTask,
  newId,
  restWaitingSession,
  type QuestionRow,
  type SessionRow,
} from '@echelon/persistence';
import type { Actor, AgentActor } from './actor.js';
import { refuseCaller, sessionOf } from './caller-authority.js';
import { lockQuestion, withdrawQuestionEntries } from './ending.js';
import { checkBytes } from './limit-checks.js';
import { type Outcome, Refused } from './outcome.js';
import { answerText } from './question-text.js';
import { isId, seesWorkspace } from './scope.js';
import { enqueue, opensNext } from './session-queue.js';
import type { Unit } from './unit-of-work.js';

export interface Answer {
  readonly questionId: string;
  readonly taskId: string;
  readonly sessionId: string | null;
  /** Canonical. */
  readonly text: string;
}

/** Answers a parent question, or says why not; a refusal tells nothing of its content (R1–R8). */
export async function answerQuestion(unit: Unit, limits: Limits, actor: Actor, answer: Answer): Promise<Outcome<SentMessage>> {
  const found = isId(answer.questionId) ? await findQuestion(unit, answer.questionId) : null;
  const visible = found && seesWorkspace(actor, found.workspace_id) ? found : null;
  const [locked, refusal, parent] = await Promise.all([
    visible && lockQuestion(unit, visible, sessionOf(actor)),
    refuseCaller(unit, actor, []),
    visible && findTask(unit, visible.metadata.parent_task_id),
  ]);
  const question = locked?.question;
  const outcome = decideAnswer({
    question: question
      ? {
          status: question.metadata.status,
          taskId: question.metadata.task_id,
          sessionId: question.session_id,
          parentTaskId: question.metadata.parent_task_id,
          answerEntryId: question.metadata.answer?.delivery_id ?? null,
        }
      : null,
    currentParentId: locked?.task.parent_id ?? null,
    callerTaskId: actor.kind === 'agent' ? actor.taskId : null,
    targetTaskId: answer.taskId,
    targetSessionId: answer.sessionId,
  });
  if (isRefusal(outcome)) return outcome;
  if (!locked || actor.kind !== 'agent') throw new Error('an answer was accepted from nobody');
  if (outcome.answer === 'accept')
    return (
      refusal ??
      checkBytes(limits, 'prompt_bytes', 'prompt', answer.text) ??
      accept(unit, actor, { ...locked, parentTitle: parent?.title ?? '' }, answer.text)
    );
  if (!outcome.entryId) throw new Error(`the answer of question ${answer.questionId} has no delivery`);
  return result(locked.question, 'already_answered', outcome.entryId);
}

async function accept(
  unit: Unit,
  actor: AgentActor,
  { question, session, parentTitle }: { readonly question: QuestionRow; readonly session: SessionRow; readonly parentTitle: string },
  text: string,
): Promise<SentMessage> {
  const { parent_task_id: parentTaskId, questions, task_id: taskId } = question.metadata;
  const entryId = newId();
  await restWaitingSession(unit, session.id);
  const answering = answerPendingQuestion(unit, question.id, { text, sessionId: actor.sessionId, deliveryId: entryId });
  const queueing = enqueue(unit, {
    id: entryId,
    sessionId: session.id,
    rank: 0,
    kind: 'answer',
    text: answerText({
      questionId: question.id,
      parent: { taskId: parentTaskId, title: parentTitle, sessionId: actor.sessionId },
      questions,
      text,
    }),
    senderKind: 'task',
    senderTaskId: actor.taskId,
    senderSessionId: actor.sessionId,
    questionId: question.id,
  });
  const [answered, queued] = await Promise.all([answering, queueing, withdrawQuestionEntries(unit, question, 'answered')]);
  if (!answered) throw new Refused(refuse('QUESTION_NOT_PENDING'));
  const { entry } = queued;
  await unit.tell({
    workspaceId: question.workspace_id,
    type: 'question.answered',
    taskId,
    sessionId: session.id,
    data: {
      question_id: question.id,
      parent_task_id: parentTaskId,
      delivery_id: entry.id,
      waited_ms: entry.created_at.getTime() - question.created_at.getTime(),
    },
  });
  return result(question, opensNext(session, queued) ? 'sent' : 'queued', entry.id);
}

function result(question: QuestionRow, status: SentMessage['status'], deliveryId: string): SentMessage {
  return {
    task_id: question.metadata.task_id,
    session_id: question.session_id,
    reply_to_question_id: question.id,
    status,
    delivery_id: deliveryId,
  };
}
