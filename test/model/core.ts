/** The state that all models share: sessions, two workers, the outbox and the queue; how it is copied and told apart. */

/** A chain of four, and a second child of `parent`; a model has those that it names. */
export type SessionName = 'root' | 'lead' | 'parent' | 'child' | 'sibling';
export type WorkerName = 'w1' | 'w2';
export type EntryKind = 'prompt' | 'question' | 'answer' | 'message' | 'peer' | 'notice' | 'reminder';

/** A rule switched off, named as in the protocol. */
export type Mutation =
  | 'no-outbox'
  | 'job-id-session'
  | 'claim-ignores-lease'
  | 'no-fence'
  | 'no-drain'
  | 'no-gate'
  | 'settle-by-status'
  | 'ask-not-idempotent'
  | 'answer-not-conditional'
  | 'stale-without-notice'
  | 'no-sweep'
  | 'no-rebuild'
  | 'park-blind'
  | 'decide-without-lock'
  | 'resume-on-first-decision'
  | 'no-parent-lock'
  | 'answer-by-session'
  | 'cause-by-newest'
  | 'entry-outlives-question'
  | 'stale-on-one-side'
  | 'no-reminder'
  | 'no-structure-lock'
  | 'create-ignores-mark'
  | 'move-ignores-mark'
  | 'zero-untold';

export type Rules = ReadonlySet<Mutation>;

/** A question by its asker and the turn that asked it. */
export interface QuestionId {
  readonly asker: SessionName;
  readonly turn: number;
}

export interface Entry {
  readonly kind: EntryKind;
  /** The question that it brings, or reminds of. */
  readonly about: QuestionId | null;
  /** The turn that it opened. */
  turn: number | 'cancelled' | null;
}

export interface Turn {
  readonly entry: number;
  readonly kind: EntryKind;
  /** Whether a question of the session was pending when the turn opened. */
  readonly wasGated: boolean;
  isOpen: boolean;
  /** How much of its script the agent has done, as the journal knows it. */
  progress: number;
  endedByQuestion: boolean;
  isParked: boolean;
  waits: ('pending' | 'decided')[];
}

export interface Session {
  queue: Entry[];
  turns: Turn[];
  lease: { readonly worker: WorkerName; readonly epoch: number } | null;
  epoch: number;
}

export interface Worker {
  at: 'idle' | 'claim' | 'turn' | 'done';
  isAlive: boolean;
  session: SessionName | null;
  /** The lease that it believes to hold. */
  epoch: number;
  /** A call has committed and its result is not recorded yet. */
  hasCalled: boolean;
}

/** A question of a session to its direct parent. */
export interface Question {
  readonly parent: SessionName;
  /** The turn that asked it. */
  readonly turn: number;
  /** The question that led to it. */
  readonly cause: QuestionId | null;
  /** How many rows one ask made. */
  asks: number;
  status: 'pending' | 'answered' | 'superseded' | 'stale';
  answers: number;
}

export interface Job {
  readonly session: SessionName;
  worker: WorkerName | null;
}

export interface Core {
  readonly names: readonly SessionName[];
  /** The direct parent of a session now. */
  parents: Parents;
  /** Sessions that have ended. */
  gone: readonly SessionName[];
  /** The newest question of each session. */
  questions: Partial<Record<SessionName, Question>>;
  outbox: SessionName[];
  jobs: Job[];
  readonly sessions: Readonly<Record<SessionName, Session>>;
  readonly workers: Readonly<Record<WorkerName, Worker>>;
  /** Something that must never happen, seen by the action in which it happened. */
  incident: string | null;
}

export type Parents = Partial<Record<SessionName, SessionName>>;

export const WORKERS: readonly WorkerName[] = ['w1', 'w2'];

const session = (): Session => ({ queue: [], turns: [], lease: null, epoch: 0 });
const worker = (): Worker => ({ at: 'idle', isAlive: true, session: null, epoch: 0, hasCalled: false });

/** Sessions without work, by name and direct parent. */
export function createCore(parents: Parents = { child: 'parent' }, names: readonly SessionName[] = ['parent', 'child']): Core {
  return {
    names,
    parents,
    gone: [],
    questions: {},
    outbox: [],
    jobs: [],
    sessions: { root: session(), lead: session(), parent: session(), child: session(), sibling: session() },
    workers: { w1: worker(), w2: worker() },
    incident: null,
  };
}

/** A copy whose rows can be changed; what a model adds is taken over as it is. */
export function copyCore<State extends Core>(core: State): State {
  return {
    ...core,
    questions: copyQuestions(core.questions),
    outbox: [...core.outbox],
    jobs: core.jobs.map((job) => ({ ...job })),
    sessions: { ...core.sessions, ...Object.fromEntries(core.names.map((name) => [name, copySession(core.sessions[name])])) },
    workers: { w1: { ...core.workers.w1 }, w2: { ...core.workers.w2 } },
  };
}

function copyQuestions(questions: Core['questions']): Core['questions'] {
  return Object.fromEntries(Object.entries(questions).map(([asker, question]) => [asker, { ...question }]));
}

function copySession(original: Session): Session {
  return {
    ...original,
    queue: original.queue.map((entry) => ({ ...entry })),
    turns: original.turns.map((turn) => ({ ...turn, waits: [...turn.waits] })),
  };
}

/**
 * The order of outbox rows and jobs does not matter, nor which worker has which name: `rest` is what a model adds,
 * a function where that names workers.
 */
export function keyOf(core: Core, rest: string | ((order: readonly WorkerName[]) => string)): string {
  const key = (order: readonly WorkerName[]) => `${encodeWorkers(core, order)}|${typeof rest === 'string' ? rest : rest(order)}`;
  const [first, second] = [key(['w1', 'w2']), key(['w2', 'w1'])];
  return `${encodeRows(core)}|${first < second ? first : second}`;
}

function encodeRows({ names, parents, gone, questions, outbox, sessions, incident }: Core): string {
  const rows = names.map((name) => `${parents[name] ?? ''}${encodeQuestion(questions[name])}${encodeSession(sessions[name])}`);
  return `${gone.join()}/${[...outbox].sort().join()}/${incident ?? ''}/${rows.join()}`;
}

function encodeQuestion(question: Question | undefined): string {
  if (!question) return '';
  const { parent, turn, cause, asks, status, answers } = question;
  return [parent, turn, encodeId(cause), asks, status, answers].join('.');
}

const encodeId = (id: QuestionId | null): string => (id ? `${id.asker}${String(id.turn)}` : '');

function encodeSession({ queue, turns, epoch }: Session): string {
  const entries = queue.map(({ kind, about, turn }) => `${kind}${encodeId(about)}${String(turn)}`);
  const journal = turns.map(
    ({ kind, wasGated, isOpen, progress, endedByQuestion, isParked, waits }) =>
      `${kind}${flags(wasGated, isOpen, endedByQuestion, isParked)}${String(progress)}${waits.join('+')}`,
  );
  return `${entries.join()};${journal.join()};${String(epoch)}`;
}

/** Everything that names a worker, with the workers counted in the given order. */
function encodeWorkers({ names, jobs, sessions, workers }: Core, order: readonly WorkerName[]): string {
  const held = names.map((name) => {
    const { lease } = sessions[name];
    return lease ? `${String(order.indexOf(lease.worker))}.${String(lease.epoch)}` : '';
  });
  const queued = jobs.map(({ session: name, worker: taker }) => `${name}${taker === null ? '' : String(order.indexOf(taker))}`).sort();
  const states = order.map((name) => {
    const { at, isAlive, session: claimed, epoch, hasCalled } = workers[name];
    return `${at}${claimed ?? ''}${String(epoch)}${flags(isAlive, hasCalled)}`;
  });
  return `${held.join()};${queued.join()};${states.join()}`;
}

const flags = (...all: readonly boolean[]): string => all.map((flag) => (flag ? '+' : '-')).join('');
