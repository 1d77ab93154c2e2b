/**
 * Delivering an ordinary message (autopilot-contract.md §8): target → arrival → the wait or the turn that it ends → entry, in one
 * transaction.
 *
 * M1  A retry under its key is answered before anything else is checked (K16).
 * M2  What the message ends (S1, interrupt) is ended before its entry is written, so that the entry is what comes next.
 */
import type { SendMessage, SentMessage } from '@echelon/contracts';
import {
  type Arrival,
  chooseTargetSession,
  decideArrival,
  isRefusal,
  type Limits,
  rankOf,
  refuse,
  type Refusal,
  type SenderRelation,
  taskMachine,
} from '@echelon/domain';
import {
  ChangedMeanwhile,
  countQueuedPrompts,
  findEntry,
  findEntryByKey,
  findOpenTurn,
  findPendingQuestion,
  findTask,
  holdGrant,
  insertAudit,
  listSessions,
  lockSessionSets,
  lockTasks,
  type NewEntry,
  type QuestionRow,
  type QueueEntryRow,
  type SessionRow,
  type TaskRow,
  type TurnRow,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { hashBody, hashKey } from './business-key.js';
import { refuseCaller, sessionOf } from './caller-authority.js';
import { endQuestion } from './ending.js';
import { checkBytes } from './limit-checks.js';
import { peerMessageText } from './message-text.js';
import type { Outcome } from './outcome.js';
import { inScope } from './scope.js';
import { enqueue, opensNext, type Queued } from './session-queue.js';
import { stopTurn } from './stop-turn.js';
import type { Unit } from './unit-of-work.js';

/** The message with its text in canonical form. */
export interface OrdinaryMessage {
  readonly taskId: string;
  readonly sessionId: string | null;
  readonly text: string;
  readonly mode: SendMessage['delivery_mode'];
  readonly key: string | null;
}

interface Target {
  readonly task: TaskRow;
  readonly session: SessionRow;
  /** The open turn that an interrupt ends; other messages end none. */
  readonly turn: TurnRow | null;
  readonly pending: QuestionRow | null;
  readonly queuedOrdinary: number;
  readonly relation: SenderRelation;
}

/** Delivers the message into a session of the task, or says why not. */
export async function deliverMessage(unit: Unit, limits: Limits, actor: Actor, message: OrdinaryMessage): Promise<Outcome<SentMessage>> {
  const [task] = await lockTasks(unit, [message.taskId]);
  const idempotency = keyOf(actor, message);
  const same = idempotency && (await findEntryByKey(unit, idempotency.scope, idempotency.keyHash));
  if (same) return repeat(message.taskId, same, idempotency.bodyHash);
  const target = await chooseTarget(unit, actor, await inReach(unit, actor, task), message);
  if (isRefusal(target)) return target;
  const tooLong = checkBytes(limits, 'prompt_bytes', 'prompt', message.text);
  if (tooLong) return tooLong;
  const arrival = decideArrival({
    relation: target.relation,
    sessionState: target.session.state,
    mode: message.mode,
    turnOpen: target.turn !== null,
    questionPending: target.pending !== null,
    queuedOrdinary: target.queuedOrdinary,
    cap: limits.queue_entries,
  });
  if (isRefusal(arrival)) return arrival;
  await makeWay(unit, target, arrival);
  const queued = await enqueue(unit, await toEntry(unit, actor, message, { target, arrival, idempotency }));
  if (actor.kind === 'operator') await audit(unit, actor, target, queued.entry);
  return result(target, queued.entry, statusOf(target.session, arrival, queued));
}

/** A task of the sender's own workspace, or of one that a grant lets it write to (M13); any other does not exist for it. */
async function inReach(unit: Unit, actor: Actor, task: TaskRow | undefined): Promise<TaskRow | Refusal> {
  const own = inScope(actor, task);
  if (!isRefusal(own) || !task || actor.kind === 'operator') return own;
  return (await holdGrant(unit, actor.workspaceId, task.workspace_id)) ? task : own;
}

async function chooseTarget(unit: Unit, actor: Actor, task: TaskRow | Refusal, message: OrdinaryMessage): Promise<Outcome<Target>> {
  if (isRefusal(task)) return task;
  const [locked, sessions, refusal] = await Promise.all([
    lockSessionSets(unit, { liveOf: [task.id], askedBy: [task.id], ids: sessionOf(actor) }),
    listSessions(unit, task.id),
    refuseCaller(unit, actor, [task]),
  ]);
  if (refusal) return refusal;
  if (task.archived_at) return refuse('TASK_ARCHIVED');
  const chosen = chooseTargetSession(
    sessions.map(({ id, state, is_primary }, age) => ({ id, state, isPrimary: is_primary, age })),
    message.sessionId,
  );
  if (isRefusal(chosen)) return chosen;
  if (actor.kind === 'agent' && actor.sessionId === chosen.sessionId) return refuse('SELF_MESSAGE');
  if (taskMachine.isTerminal(task.state)) return refuse('TASK_TERMINAL', { state: task.state });
  const session = locked.find(({ id }) => id === chosen.sessionId);
  if (!session) throw new ChangedMeanwhile('the sessions of a task');
  const [pending, queuedOrdinary, turn] = await Promise.all([
    findPendingQuestion(unit, session.id),
    countQueuedPrompts(unit, session.id),
    message.mode === 'interrupt' ? findOpenTurn(unit, session.id) : null,
  ]);
  if (pending) await requireLocked(unit, pending, locked);
  return { task, session, turn, pending, queuedOrdinary, relation: relationOf(actor, task) };
}

/** Ending the question will touch the queue that holds it (S9). */
async function requireLocked(unit: Unit, { metadata }: QuestionRow, locked: readonly SessionRow[]): Promise<void> {
  const held = await findEntry(unit, metadata.parent_entry_id);
  if (held?.state === 'queued' && !locked.some(({ id }) => id === held.session_id))
    throw new ChangedMeanwhile('the receiver of a question');
}

function relationOf(actor: Actor, task: TaskRow): SenderRelation {
  if (actor.kind === 'operator') return 'operator';
  if (actor.taskId === task.id) return 'same_task';
  return actor.taskId === task.parent_id ? 'direct_parent' : 'other_task';
}

async function makeWay(unit: Unit, { task, session, turn, pending, relation }: Target, arrival: Arrival): Promise<void> {
  if (arrival.supersedes && pending) {
    await endQuestion(unit, pending, 'superseded', relation === 'operator' ? 'operator_prompt' : 'parent_prompt');
  }
  if (arrival.interrupts && turn) await stopTurn(unit, { task, session, turn }, 'interrupted by the parent task');
}

interface Decided {
  readonly target: Target;
  readonly arrival: Arrival;
  readonly idempotency: NewEntry['idempotency'];
}

async function toEntry(unit: Unit, actor: Actor, message: OrdinaryMessage, { target, arrival, idempotency }: Decided): Promise<NewEntry> {
  const common = {
    sessionId: target.session.id,
    kind: 'prompt' as const,
    rank: rankOf('prompt', arrival),
    deliveryMode: message.mode,
    idempotency: idempotency ?? null,
  };
  if (actor.kind === 'operator') return { ...common, text: message.text, senderKind: 'operator' };
  const task = await findTask(unit, actor.taskId);
  const { relation, task: receiver } = target;
  if (!task || relation === 'operator') throw new Error(`session ${actor.sessionId} has no task`);
  const answerable = receiver.workspace_id === task.workspace_id || (await holdGrant(unit, receiver.workspace_id, task.workspace_id));
  return {
    ...common,
    text: peerMessageText(message.text, { task, sessionId: actor.sessionId, relation, answerable }),
    senderKind: 'task',
    senderTaskId: actor.taskId,
    senderSessionId: actor.sessionId,
  };
}

/** A key belongs to the sender's session, an operator's to its token (K16). */
function keyOf(actor: Actor, message: OrdinaryMessage): NonNullable<NewEntry['idempotency']> | null {
  if (message.key === null) return null;
  return {
    scope: actor.kind === 'operator' ? `token:${actor.tokenId}` : `session:${actor.sessionId}`,
    keyHash: hashKey(message.key),
    bodyHash: hashBody({ task_id: message.taskId, session_id: message.sessionId, prompt: message.text, delivery_mode: message.mode }),
  };
}

function repeat(taskId: string, entry: QueueEntryRow, bodyHash: Buffer): Outcome<SentMessage> {
  if (!entry.idempotency_body_hash?.equals(bodyHash)) return refuse('IDEMPOTENCY_MISMATCH');
  const status = entry.state === 'queued' ? 'queued' : 'sent';
  return { task_id: taskId, session_id: entry.session_id, status, delivery_id: entry.id, deduplicated: true };
}

/** What the sender is told: `sent` and `started` only if nothing else keeps the entry from being next. */
function statusOf(session: SessionRow, arrival: Arrival, queued: Queued): SentMessage['status'] {
  if (arrival.status === 'queued' || arrival.interrupts) return arrival.status;
  return opensNext(session, queued) ? arrival.status : 'queued';
}

async function audit(unit: Unit, actor: Actor, { session }: Target, entry: QueueEntryRow): Promise<void> {
  await insertAudit(unit, { workspaceId: session.workspace_id, actor: actorName(actor), action: 'message.send', subject: entry.id });
}

function result({ task, session }: Target, entry: QueueEntryRow, status: SentMessage['status']): SentMessage {
  return { task_id: task.id, session_id: session.id, status, delivery_id: entry.id };
}
