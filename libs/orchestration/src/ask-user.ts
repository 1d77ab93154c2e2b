/**
 * The operator question of a normal task (V4): the call's turn parks on the pending message; a decision is one conditional
 * update, and the parked turn runs on.
 */
import type { AnswerUserQuestion, AskQuestions, UserQuestion } from '@echelon/contracts';
import { canonicalText, deriveContract, isRefusal, isResumable, type Limits, refuse, type Refusal, sessionMachine } from '@echelon/domain';
import {
  cancelQuestionNotice,
  decideUserQuestion,
  findOpenTurn,
  findSameUserQuestion,
  findTask,
  findUserQuestion,
  insertAudit,
  insertMessage,
  lockSessions,
  type SessionRow,
  type TurnRow,
  type UserQuestionRow,
} from '@echelon/persistence';
import { type Actor, type AgentActor, actorName } from './actor.js';
import { type Asked, prepareQuestions } from './asked-questions.js';
import { hashBody, hashKey } from './business-key.js';
import { checkBytes } from './limit-checks.js';
import { serializeText } from './message-content.js';
import type { Outcome } from './outcome.js';
import { decisionText, recordText } from './question-text.js';
import { toUserQuestion } from './question-view.js';
import { isId } from './scope.js';
import { enqueue, followChange, refreshWork } from './session-queue.js';
import { refuseTurn } from './turn-authority.js';
import type { Transactions, Unit } from './unit-of-work.js';

/** Asks the operator; a retry, or the same question while it waits, gives the first one back. */
export async function askUser(
  unit: Unit,
  limits: Limits,
  actor: AgentActor,
  ask: { readonly input: AskQuestions; readonly key: string },
): Promise<Outcome<UserQuestion>> {
  const asked = prepareQuestions(ask.input, limits);
  if (isRefusal(asked)) return asked;
  const [session] = await lockSessions(unit, [actor.sessionId]);
  if (session?.task_id !== actor.taskId || session.workspace_id !== actor.workspaceId) return refuse('NOT_FOUND');
  const hashes = { key: hashKey(ask.key).toString('hex'), bodyHash: hashBody(asked).toString('hex') };
  const same = await findSameUserQuestion(unit, session.id, hashes);
  if (same && same.metadata.body_hash !== hashes.bodyHash) return refuse('IDEMPOTENCY_MISMATCH');
  if (same) return readAgain(unit, session, same);
  const turn = await findOpenTurn(unit, session.id);
  const refusal = (await refuseAsker(unit, session)) ?? refuseTurn(turn, actor);
  return refusal ?? storeUserQuestion(unit, session, isResumable(session.runtime) ? turn : null, { ...asked, ...hashes });
}

/** Whoever reads the decision by asking again does not hear of it a second time. */
async function readAgain(unit: Unit, session: SessionRow, question: UserQuestionRow): Promise<UserQuestion> {
  if (!isResumable(session.runtime) && question.metadata.status !== 'pending')
    await followChange(unit, await cancelQuestionNotice(unit, question.id));
  return toUserQuestion({ ...question, task_id: session.task_id });
}

/** An agent whose turn cannot wait in its middle hears of the decision with its next messages; its turn ended when it asked. */
async function tellAsker(unit: Unit, session: SessionRow, question: UserQuestion): Promise<void> {
  if (isResumable(session.runtime)) return;
  const entry = { sessionId: session.id, rank: 0, kind: 'notice', senderKind: 'system', questionId: question.id } as const;
  await enqueue(unit, { ...entry, text: decisionText(question) });
}

async function refuseAsker(unit: Unit, session: SessionRow): Promise<Refusal | null> {
  if (sessionMachine.isTerminal(session.state)) return refuse('SESSION_TERMINAL', { state: session.state });
  const task = await findTask(unit, session.task_id);
  const contract =
    task &&
    deriveContract({
      autopilot: task.autopilot,
      hasParent: task.parent_id !== null,
      sessionKind: session.kind,
      runtime: session.runtime,
    });
  return contract?.capabilities.includes('user_question') ? null : refuse('TOOL_NOT_OFFERED');
}

async function storeUserQuestion(
  unit: Unit,
  session: SessionRow,
  turn: TurnRow | null,
  asked: Asked & { readonly key: string; readonly bodyHash: string },
): Promise<UserQuestion> {
  const metadata: UserQuestionRow['metadata'] = {
    status: 'pending',
    idempotency_key: asked.key,
    body_hash: asked.bodyHash,
    questions: asked.questions,
    context: asked.context,
  };
  const row = await insertMessage(unit, {
    sessionId: session.id,
    turnId: turn?.id ?? null,
    type: 'user_question',
    role: 'assistant',
    content: serializeText(recordText(asked.questions, asked.context)),
    metadata,
  });
  await refreshWork(unit, session.id);
  await unit.tell({
    workspaceId: session.workspace_id,
    type: 'question.asked',
    taskId: session.task_id,
    sessionId: session.id,
    data: { question_id: row.id, kind: 'user' },
  });
  return toUserQuestion({ ...row, metadata, task_id: session.task_id });
}

/** Answers or rejects an operator question; whoever comes second gets the first decision, with `claimed: false`. */
export function answerUser(
  unit: Unit,
  limits: Limits,
  actor: Actor,
  answer: { readonly id: string; readonly input: AnswerUserQuestion },
): Promise<Outcome<DecidedQuestion>> {
  return decide(unit, actor, answer.id, (found) => decisionOf(answer.input, found, limits));
}

/** Takes an operator question back: whoever asked goes on without an answer. */
export function cancelUser(unit: Unit, actor: Actor, id: string): Promise<Outcome<DecidedQuestion>> {
  return decide(unit, actor, id, () => ({ status: 'cancelled', answers: null, rejectReason: null }));
}

/** Ends an operator question whose profile's time-out has passed; returns whether this call did. */
export async function expireUserQuestion(transactions: Transactions, id: string): Promise<boolean> {
  const ended = await transactions.run((unit) => decide(unit, null, id, () => ({ status: 'expired', answers: null, rejectReason: null })));
  return !isRefusal(ended) && ended.claimed;
}

type DecidedQuestion = UserQuestion & { readonly claimed: boolean };

/** Decides an operator question once, for an operator or, without an actor, for the clock. */
async function decide(
  unit: Unit,
  actor: Actor | null,
  id: string,
  toDecision: (found: UserQuestionRow) => Decision | Refusal,
): Promise<Outcome<DecidedQuestion>> {
  if (actor?.kind === 'agent') return refuse('FORBIDDEN');
  const found = isId(id) ? await findUserQuestion(unit, id) : null;
  if (!found) return refuse('NOT_FOUND');
  const [session] = await lockSessions(unit, [found.session_id]);
  if (!session) return refuse('NOT_FOUND');
  const decision = toDecision(found);
  if (isRefusal(decision)) return decision;
  const by = actor ? actorName(actor) : 'system';
  const decided = await decideUserQuestion(unit, found.id, { ...decision, by });
  if (!decided) return lostTo(unit, found.id, session);
  await insertAudit(unit, { workspaceId: session.workspace_id, actor: by, action: `question.${decision.status}`, subject: found.id });
  const question = toUserQuestion({ ...decided, task_id: session.task_id });
  await tellAsker(unit, session, question);
  await refreshWork(unit, session.id);
  await unit.tell({
    workspaceId: session.workspace_id,
    type: decision.status === 'answered' || decision.status === 'rejected' ? 'question.answered' : 'question.ended',
    taskId: session.task_id,
    sessionId: session.id,
    data: { question_id: found.id, kind: 'user', status: decision.status },
  });
  return { ...question, claimed: true };
}

async function lostTo(unit: Unit, id: string, session: SessionRow): Promise<DecidedQuestion> {
  const decided = await findUserQuestion(unit, id);
  if (!decided) throw new Error(`question ${id} vanished under its session’s lock`);
  return { ...toUserQuestion({ ...decided, task_id: session.task_id }), claimed: false };
}

type Decision = Omit<Parameters<typeof decideUserQuestion>[2], 'by'>;

/** A rejection has no answers; anything else answers every question. */
function decisionOf(input: AnswerUserQuestion, { metadata }: UserQuestionRow, limits: Limits): Decision | Refusal {
  const given = Object.entries(input.answers ?? {}).map(([id, text]) => [canonicalText(id), canonicalText(text)] as const);
  const ids = metadata.questions.map(({ id }) => id);
  if (input.rejected) {
    if (given.length > 0) return refuse('INVALID_INPUT', { field: 'answers', rule: 'a rejection has no answers' });
    return { status: 'rejected', answers: null, rejectReason: input.reject_reason ? canonicalText(input.reject_reason) : null };
  }
  if (given.length !== ids.length || given.some(([id]) => !ids.includes(id))) {
    return refuse('INVALID_INPUT', { field: 'answers', rule: `one answer for each of: ${ids.join(', ')}` });
  }
  const tooLong = given.map(([, text]) => checkBytes(limits, 'prompt_bytes', 'answers', text)).find((refusal) => refusal !== null);
  return tooLong ?? { status: 'answered', answers: Object.fromEntries(given), rejectReason: null };
}
