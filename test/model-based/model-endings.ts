/** How waits, turns, sessions and tasks end in the model, and what follows from each (contract §6, §8). */
import {
  cancelWaits,
  closeTurn,
  type EndState,
  enqueue,
  isClosed,
  isEnded,
  liveSessions,
  type Model,
  named,
  nextWork,
  openTurn,
  othersActive,
  openEntry,
  pendingOf,
  type Place,
  type Question,
  queued,
  receiverOf,
  type Session,
  settleTask,
  type Task,
  type Turn,
  waitsForTasks,
} from './model.js';

/** After these the child lives on and is told that nobody answers (S4, S8). */
const TOLD = ['parent_ended', 'parent_archived', 'parent_deleted', 'parent_changed', 'timeout'];
const BAD = ['interrupted', 'error', 'loop_detected', 'output_limit'];
/** What a session keeps for the next one when it is stopped (M12). */
const KEPT: readonly string[] = ['prompt', 'alert'];
type EndCause = 'session_ended' | 'task_ended' | 'task_archived' | 'task_deleted';
const FOR_CHILDREN: Readonly<Record<EndCause, string>> = {
  session_ended: 'parent_ended',
  task_ended: 'parent_ended',
  task_archived: 'parent_archived',
  task_deleted: 'parent_deleted',
};

export function endQuestion(m: Model, question: Question, status: 'superseded' | 'stale', cause: string): void {
  Object.assign(question, { status, cause });
  withdraw(m, question);
  const asker = named(m.sessions, question.session);
  if (asker.state === 'waiting_for_input') asker.state = 'idle';
  if (TOLD.includes(cause)) enqueue(asker, { kind: 'notice', rank: 0, from: 'system', question: question.name });
}

/** What would tell the parent of a question that is over is taken back (S9). */
export function withdraw(m: Model, { name }: Question): void {
  const tells = m.sessions.flatMap(queued).filter((entry) => entry.question === name && ['question', 'reminder'].includes(entry.kind));
  for (const entry of tells) entry.state = 'cancelled';
}

const questionsTo = (m: Model, task: string): Question[] => m.questions.filter((q) => q.parent === task && q.status === 'pending');

function endQuestionsTo(m: Model, task: string, cause: string): void {
  for (const question of questionsTo(m, task)) endQuestion(m, question, 'stale', cause);
}

export function endSession(m: Model, s: Session, state: EndState, cause: EndCause): void {
  Object.assign(s, { state, lease: 'none', epoch: s.epoch + 1 });
  const turn = openTurn(s);
  if (turn) closeTurn(m, s, turn, state === 'failed' ? 'interrupted' : 'stopped');
  cancelWaits(m, s);
  const own = pendingOf(m, s.name);
  if (own) endQuestion(m, own, 'stale', cause);
  const heir = receiverOf(m, s.task);
  if (!heir) endQuestionsTo(m, s.task, FOR_CHILDREN[cause]);
  for (const question of questionsTo(m, s.task)) if (heir && question.told.session === s.name) redirect(m, question, heir);
  const isStopped = cause === 'session_ended';
  if (isStopped) s.autoRun = false;
  for (const entry of queued(s)) if (!isStopped || !KEPT.includes(entry.kind)) entry.state = 'failed';
}

/** Another session of the parent is told instead, and may be reminded anew. */
function redirect(m: Model, question: Question, heir: Session): void {
  withdraw(m, question);
  enqueue(heir, { kind: 'question', rank: 2, from: named(m.sessions, question.session).task, question: question.name });
  question.told = { session: heir.name, entry: heir.entries.length - 1 };
  question.reminder = null;
  if (!heir.autoRun) question.isOperatorNotified = true;
}

export function endSessionsOf(m: Model, task: string, state: EndState, cause: EndCause): boolean {
  endQuestionsTo(m, task, FOR_CHILDREN[cause]);
  const live = liveSessions(m, task);
  for (const session of live) endSession(m, session, state, cause);
  const kept = cause === 'session_ended' ? [] : m.sessions.filter((s) => s.task === task).flatMap(queued);
  for (const entry of kept) entry.state = 'failed';
  return live.length > 0;
}

export function endTask(m: Model, task: Task, state: EndState): void {
  task.state = state;
  endSessionsOf(m, task.name, state, 'task_ended');
  leaveParent(m, task.parent);
  for (const dependent of dependentsOf(m, task.name))
    if (state === 'completed' && !waitsForTasks(m, dependent)) followDependencies(m, dependent);
  if (state !== 'completed') haltDependents(m, task.name);
}

const dependentsOf = (m: Model, task: string): Task[] => m.tasks.filter((one) => one.blockers.includes(task) && !isEnded(one));

/** A task that has not started is blocked or ready, as what it waits for says. */
export function followDependencies(m: Model, task: Task): void {
  if (task.state === 'ready' && waitsForTasks(m, task)) task.state = 'blocked';
  else if (task.state === 'blocked' && !waitsForTasks(m, task)) task.state = 'ready';
}

/** The parents of what would wait for ever are told. */
export function haltDependents(m: Model, task: string): void {
  for (const dependent of dependentsOf(m, task)) if (!dependent.archived) alertAbout(m, dependent);
}

/** The last open child of a set tells the parent, unless no child is left. */
export function leaveParent(m: Model, parent: string | null): void {
  if (parent === null) return;
  const above = named(m.tasks, parent);
  if (above.openChildren === 0) return;
  above.openChildren -= 1;
  if (above.openChildren === 0 && m.tasks.some((task) => task.parent === parent)) alert(m, above, null);
}

function alert(m: Model, parent: Task, about: string | null): void {
  const receiver = isClosed(parent) ? undefined : receiverOf(m, parent.name);
  if (receiver) enqueue(receiver, { kind: 'alert', rank: 2, from: 'system', about });
}

/** Of a child that ended badly or cannot go on the parent is told once: an alert that still waits is rewritten. */
function alertAbout(m: Model, child: Task): void {
  if (child.parent === null) return;
  const waiting = liveSessions(m, child.parent).flatMap(queued);
  if (!waiting.some(({ kind, about }) => kind === 'alert' && about === child.name)) alert(m, named(m.tasks, child.parent), child.name);
}

/** Stops the turn: one that runs is marked, any other is over at once (K18). Tells whether the task has come to rest. */
export function stopTurn(m: Model, s: Session, turn: Turn): boolean {
  if (s.lease === 'live') {
    turn.isStopping = true;
    cancelWaits(m, s, s.turns.indexOf(turn));
    return false;
  }
  closeTurn(m, s, turn, 'stopped');
  const waits = pendingOf(m, s.name) !== undefined;
  Object.assign(s, { state: waits ? 'waiting_for_input' : 'idle', lease: 'none', epoch: s.epoch + 1 });
  settleTask(m, s, waits ? 'wait' : 'rest');
  return !waits && !othersActive(m, s);
}

interface Ending {
  readonly outcome: string;
  /** The holder goes on with the next entry, if there is one. */
  readonly drains: boolean;
}

/** Settlement (K5): what follows the turn, and whether its holder goes on. */
export function settle(m: Model, s: Session, turn: Turn, { outcome, drains }: Ending): 'released' | 'run' {
  closeTurn(m, s, turn, outcome);
  const task = named(m.tasks, s.task);
  const isBad = BAD.includes(outcome);
  if (isBad) alertAbout(m, task);
  if (turn.isSignalled && turn.asked === null && !isBad && outcome !== 'stopped') {
    endTask(m, task, 'completed');
    return 'released';
  }
  const next = nextWork(m, s);
  if (next && 'kind' in next && drains) {
    openEntry(s, next);
    return 'run';
  }
  const waits = pendingOf(m, s.name) !== undefined;
  Object.assign(s, { state: waits ? 'waiting_for_input' : 'idle', lease: 'none' });
  if (!waits && !next && !othersActive(m, s)) followUp(m, s);
  settleTask(m, s, waits ? 'wait' : 'rest');
  return 'released';
}

/** One reminder per question, then one notification of the operator (S7). */
export function followUp(m: Model, s: Session): void {
  for (const question of questionsTo(m, s.task)) {
    if (!isReadAndOver(m, question.reminder ?? question.told)) continue;
    if (question.reminder) question.isOperatorNotified = true;
    else {
      enqueue(s, { kind: 'reminder', rank: 3, from: 'system', question: question.name, about: named(m.sessions, question.session).task });
      question.reminder = { session: s.name, entry: s.entries.length - 1 };
    }
  }
}

function isReadAndOver(m: Model, { session, entry }: Place): boolean {
  return named(m.sessions, session).turns.some((turn) => turn.entry === entry && turn.outcome !== null);
}
