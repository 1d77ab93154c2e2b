/**
 * Asking the parent: locks → facts → the domain decides → question, gate, parent's entry and wake-up, in one transaction
 * (autopilot-contract.md §4).
 *
 * K1  A retry under its key is answered before anything else is checked (A2).
 * K2  The parent is the one that the child's task row names under its lock; nobody can name another (A6).
 */
import type { AskedParent, AskQuestions } from '@echelon/contracts';
import { decideAsk, deriveContract, isRefusal, type Limits, refuse, sessionMachine, taskMachine } from '@echelon/domain';
import {
  ChangedMeanwhile,
  findCausingQuestion,
  findOpenTurn,
  findPendingQuestion,
  findQuestionByKey,
  findTask,
  insertMessage,
  lockSessionSets,
  lockTasks,
  markAsked,
  newId,
  type QuestionRow,
  type SessionRow,
  type TaskRow,
  type TurnRow,
} from '@echelon/persistence';
import type { AgentActor } from './actor.js';
import { type Asked, prepareQuestions } from './asked-questions.js';
import { hashBody, hashKey } from './business-key.js';
import { reachOf } from './ending.js';
import { serializeText } from './message-content.js';
import type { Outcome } from './outcome.js';
import { notifyOperators } from './question-follow-up.js';
import { questionText, recordText } from './question-text.js';
import { enqueue, refreshWork } from './session-queue.js';
import { refuseTurn } from './turn-authority.js';
import type { Unit } from './unit-of-work.js';

interface Asking {
  readonly task: TaskRow;
  readonly parent: TaskRow | null;
  readonly session: SessionRow;
  readonly turn: TurnRow | null;
  readonly parentSessions: readonly SessionRow[];
}

/** Asks the direct parent; returns at once (A1). */
export async function askParent(
  unit: Unit,
  limits: Limits,
  actor: AgentActor,
  ask: { readonly input: AskQuestions; readonly key: string },
): Promise<Outcome<AskedParent>> {
  const asked = prepareQuestions(ask.input, limits);
  if (isRefusal(asked)) return asked;
  const asking = await lockAsking(unit, actor);
  if (!asking) return refuse('NOT_FOUND');
  const key = hashKey(ask.key).toString('hex');
  const { session } = asking;
  const [same, pending] = await Promise.all([findQuestionByKey(unit, session.id, key), findPendingQuestion(unit, session.id)]);
  if (same && !isSameBody(same, asked)) return refuse('IDEMPOTENCY_MISMATCH');
  if (!same && sessionMachine.isTerminal(session.state)) return refuse('SESSION_TERMINAL', { state: session.state });
  const outcome = decideAsk({
    autopilot: asking.task.autopilot,
    sessionKind: session.kind,
    parentTaskId: asking.task.parent_id,
    sameKeyQuestionId: same?.id ?? null,
    pendingQuestionId: pending?.id ?? null,
    parent: isOpen(asking.parent) ? reachOf(asking.parentSessions) : { kind: 'none' },
  });
  if (isRefusal(outcome)) return outcome;
  if (outcome.ask === 'existing') return returnExisting(unit, asking, same ?? pending);
  return refuseTurn(asking.turn, actor) ?? storeQuestion(unit, asking, { ...asked, key, parentSessionId: outcome.parentSessionId });
}

async function lockAsking(unit: Unit, actor: AgentActor): Promise<Asking | null> {
  const found = await findTask(unit, actor.taskId);
  if (!found) return null;
  const parentIds = found.parent_id ? [found.parent_id] : [];
  const [tasks, sessions, turn] = await Promise.all([
    lockTasks(unit, [found.id, ...parentIds]),
    lockSessionSets(unit, { liveOf: parentIds, ids: [actor.sessionId] }),
    findOpenTurn(unit, actor.sessionId),
  ]);
  const task = tasks.find(({ id }) => id === actor.taskId);
  if (!task || task.workspace_id !== actor.workspaceId) return null;
  if (task.parent_id !== found.parent_id) throw new ChangedMeanwhile('the parent of a task');
  const parent = tasks.find(({ id }) => id === task.parent_id) ?? null;
  const session = sessions.find(({ id }) => id === actor.sessionId);
  if (session?.task_id !== task.id) return null;
  return { task, parent, session, turn, parentSessions: sessions.filter((one) => one.task_id === parent?.id) };
}

function isOpen(parent: TaskRow | null): boolean {
  return parent !== null && parent.archived_at === null && !taskMachine.isTerminal(parent.state);
}

function isSameBody({ metadata }: QuestionRow, asked: Asked): boolean {
  return hashBody({ questions: metadata.questions, context: metadata.context }).equals(hashBody(asked));
}

/** A question that still waits ends this turn too, whichever turn asked it (K6b). */
async function returnExisting(unit: Unit, { turn }: Asking, question: QuestionRow | null): Promise<AskedParent> {
  if (!question) throw new Error('an existing question vanished under its session’s lock');
  if (turn && question.metadata.status === 'pending') await markAsked(unit, turn.id, question.id);
  return { question_id: question.id, parent_task_id: question.metadata.parent_task_id, status: 'waiting_for_parent' };
}

type NewQuestion = Asked & {
  readonly id: string;
  readonly key: string;
  readonly parentSessionId: string;
  readonly entryId: string;
  /** The question for whose sake the asking turn runs. */
  readonly causeId: string | null;
};

async function storeQuestion(
  unit: Unit,
  asking: Asking,
  asked: Pick<NewQuestion, keyof Asked | 'key' | 'parentSessionId'>,
): Promise<AskedParent> {
  const { task, parent, session, turn } = asking;
  if (!parent) throw new Error(`task ${task.id} has no parent to ask`);
  const cause = turn && (await findCausingQuestion(unit, turn.opening_entry_id));
  const id = newId();
  const [question] = await Promise.all([
    recordQuestion(unit, asking, parent, { ...asked, id, entryId: newId(), causeId: cause?.id ?? null }),
    turn && markAsked(unit, turn.id, id),
    refreshWork(unit, session.id),
  ]);
  const isPaused = asking.parentSessions.some((one) => one.id === asked.parentSessionId && !one.auto_run);
  if (isPaused) await notifyOperators(unit, question, 'question_to_paused_parent');
  await unit.tell({
    workspaceId: task.workspace_id,
    type: 'question.asked',
    taskId: task.id,
    sessionId: session.id,
    data: { question_id: question.id, parent_task_id: parent.id, parent_session_id: asked.parentSessionId },
  });
  return { question_id: question.id, parent_task_id: parent.id, status: 'waiting_for_parent' };
}

/** The question in the child's conversation, and the entry that tells the parent of it. */
async function recordQuestion(unit: Unit, asking: Asking, parent: TaskRow, asked: NewQuestion): Promise<QuestionRow> {
  const { task, session, turn } = asking;
  const queueing = enqueue(unit, {
    id: asked.entryId,
    sessionId: asked.parentSessionId,
    rank: 2,
    kind: 'question',
    text: textForParent(asking, parent, asked),
    senderKind: 'task',
    senderTaskId: task.id,
    senderSessionId: session.id,
    questionId: asked.id,
  });
  const metadata: QuestionRow['metadata'] = {
    status: 'pending',
    task_id: task.id,
    parent_task_id: parent.id,
    parent_session_id: asked.parentSessionId,
    parent_entry_id: asked.entryId,
    idempotency_key: asked.key,
    questions: asked.questions,
    context: asked.context,
    caused_by_question_id: asked.causeId,
  };
  const content = serializeText(recordText(asked.questions, asked.context));
  const common = { sessionId: session.id, turnId: turn?.id ?? null, type: 'parent_question', role: 'assistant', hidden: true } as const;
  const [row] = await Promise.all([insertMessage(unit, { ...common, id: asked.id, content, metadata }), queueing]);
  return { ...row, metadata };
}

function textForParent({ task, session, parentSessions }: Asking, parent: TaskRow, asked: NewQuestion): string {
  const reader = parentSessions.find(({ id }) => id === asked.parentSessionId);
  if (!reader) throw new Error(`session ${asked.parentSessionId} is not the parent's`);
  return questionText({
    questionId: asked.id,
    child: { taskId: task.id, title: task.title, sessionId: session.id },
    parent: {
      taskId: parent.id,
      title: parent.title,
      contract: deriveContract({
        autopilot: parent.autopilot,
        hasParent: parent.parent_id !== null,
        sessionKind: reader.kind,
        runtime: reader.runtime,
      }),
    },
    questions: asked.questions,
    context: asked.context,
  });
}
