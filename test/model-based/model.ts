/**
 * The executable model: what the rows of a workspace say after each command, written from the contract and not from the code. It has
 * no locks, no leases that expire by themselves and no statements; every function changes the state that it is given.
 */

export type TaskState = 'blocked' | 'ready' | 'in_progress' | 'waiting' | 'review' | 'completed' | 'failed' | 'cancelled';
export type EndState = 'completed' | 'failed' | 'cancelled';
export type EntryKind = 'prompt' | 'answer' | 'question' | 'alert' | 'notice' | 'reminder';

export interface Task {
  readonly name: string;
  parent: string | null;
  readonly autopilot: boolean;
  state: TaskState;
  archived: boolean;
  openChildren: number;
  /** Names of the tasks that it waits for, in their order. */
  blockers: string[];
  /** What was deleted stays here, and is neither found nor drawn any more. */
  isDeleted: boolean;
}

export interface Entry {
  readonly kind: EntryKind;
  rank: number;
  /** `operator`, `system` or the sending task. */
  readonly from: string;
  /** The command whose words it carries. */
  words: string | null;
  readonly question: string | null;
  /** Of an alert: the child that it is about. */
  readonly about: string | null;
  revision: number;
  state: 'queued' | 'delivered' | 'cancelled' | 'failed';
}

export interface Turn {
  /** Place of its opening entry in the queue. */
  entry: number;
  outcome: string | null;
  asked: string | null;
  isSignalled: boolean;
  isStopping: boolean;
  isParked: boolean;
  isBackingOff: boolean;
  takeovers: number;
}

export interface Session {
  readonly name: string;
  readonly task: string;
  isPrimary: boolean;
  state: 'created' | 'running' | 'idle' | 'waiting_for_input' | 'parked' | EndState;
  autoRun: boolean;
  epoch: number;
  lease: 'none' | 'live' | 'void';
  readonly entries: Entry[];
  readonly turns: Turn[];
}

export interface Question {
  readonly name: string;
  readonly session: string;
  readonly parent: string;
  readonly causedBy: string | null;
  status: 'pending' | 'answered' | 'superseded' | 'stale';
  cause: string | null;
  answer: string | null;
  /** Where the parent reads it, and its reminder. */
  told: Place;
  reminder: Place | null;
  isOperatorNotified: boolean;
}

export interface Place {
  readonly session: string;
  readonly entry: number;
}

export interface UserQuestion {
  readonly name: string;
  readonly session: string;
  /** Number of the turn that waits for it, from zero. */
  readonly turn: number | null;
  status: 'pending' | 'answered' | 'rejected' | 'cancelled';
}

export interface Model {
  readonly tasks: Task[];
  readonly sessions: Session[];
  readonly questions: Question[];
  readonly userQuestions: UserQuestion[];
  /** What each session's last worker believes to hold. */
  readonly claims: Record<string, { epoch: number; turn: number }>;
}

export const emptyModel = (): Model => ({ tasks: [], sessions: [], questions: [], userQuestions: [], claims: {} });

export function named<T extends { readonly name: string }>(all: readonly T[], name: string): T {
  const found = all.find((one) => one.name === name);
  if (!found) throw new Error(`the model has no ${name}`);
  return found;
}

export const isEnded = ({ state }: Pick<Task | Session, 'state'>): boolean => ['completed', 'failed', 'cancelled'].includes(state);
export const isClosed = (task: Task): boolean => task.archived || isEnded(task);
export const liveSessions = (m: Model, task: string): Session[] => m.sessions.filter((s) => s.task === task && !isEnded(s));
export const openTurn = ({ turns }: Session): Turn | undefined => turns.find(({ outcome }) => outcome === null);
export const queued = ({ entries }: Session): Entry[] => entries.filter(({ state }) => state === 'queued');
export const pendingOf = (m: Model, session: string): Question | undefined =>
  m.questions.find((q) => q.session === session && q.status === 'pending');
/** Waits for an answer, or is in the middle of a turn, which nobody may hold just now. */
export const isActive = (s: Session): boolean => s.state === 'waiting_for_input' || openTurn(s) !== undefined;
export const othersActive = (m: Model, session: Session): boolean =>
  m.sessions.some((other) => other.task === session.task && other !== session && isActive(other));

/** Whether the task is `above` itself or below it. */
export function isWithin(m: Model, task: string, above: string): boolean {
  const { parent } = named(m.tasks, task);
  return task === above || (parent !== null && isWithin(m, parent, above));
}

/** What the session's next holder would do: go on with its turn, open one, or nothing (K3, K6). */
export function nextWork(m: Model, s: Session): Turn | Entry | null {
  const turn = openTurn(s);
  if (isEnded(s)) return null;
  if (turn) return turn.isBackingOff || (turn.isParked && hasWaits(m, s)) ? null : turn;
  const task = named(m.tasks, s.task);
  if (isClosed(task) || task.state === 'blocked' || waitsForTasks(m, task) || !s.autoRun) return null;
  const isGated = pendingOf(m, s.name) !== undefined;
  const admitted = queued(s).filter(({ kind }) => !isGated || kind === 'answer');
  return admitted.toSorted((a, b) => a.rank - b.rank)[0] ?? null;
}

/** Whether a task that it waits for has not completed. */
export const waitsForTasks = (m: Model, { blockers }: Task): boolean => blockers.some((name) => named(m.tasks, name).state !== 'completed');

export function hasWaits(m: Model, s: Session): boolean {
  const turn = s.turns.length - 1;
  return m.userQuestions.some((q) => q.session === s.name && q.turn === turn && q.status === 'pending');
}

/** The session that receives what the protocol writes: the live primary, else the newest live one (A11). */
export function receiverOf(m: Model, task: string): Session | undefined {
  const live = liveSessions(m, task);
  return live.find(({ isPrimary }) => isPrimary) ?? live.at(-1);
}

export function enqueue(s: Session, entry: Pick<Entry, 'kind' | 'rank' | 'from'> & Partial<Entry>): Entry {
  const added: Entry = { words: null, question: null, about: null, revision: 1, state: 'queued', ...entry };
  s.entries.push(added);
  return added;
}

/** The state after the event; undefined where the task takes none such. */
export function stateAfter({ state }: Task, event: 'start' | 'wait' | 'rest'): TaskState | undefined {
  if (state === 'blocked' || isEnded({ state })) return undefined;
  if (event === 'rest') return 'review';
  if (event === 'start') return 'in_progress';
  return state === 'ready' ? undefined : 'waiting';
}

/** Rests or parks the task with its last active session. */
export function settleTask(m: Model, s: Session, event: 'wait' | 'rest'): void {
  const task = named(m.tasks, s.task);
  if (!othersActive(m, s)) task.state = stateAfter(task, event) ?? task.state;
}

export function openEntry(s: Session, entry: Entry): void {
  entry.state = 'delivered';
  const fresh = { outcome: null, asked: null, isSignalled: false, isStopping: false, isParked: false, isBackingOff: false, takeovers: 0 };
  s.turns.push({ entry: s.entries.indexOf(entry), ...fresh });
}

export function closeTurn(m: Model, s: Session, turn: Turn, outcome: string): void {
  Object.assign(turn, { outcome, isParked: false, isBackingOff: false });
  cancelWaits(m, s, s.turns.indexOf(turn));
}

export function cancelWaits(m: Model, s: Session, turn?: number): void {
  const mine = m.userQuestions.filter((q) => q.session === s.name && q.status === 'pending' && (turn === undefined || q.turn === turn));
  for (const question of mine) question.status = 'cancelled';
}
