/** The state that all models share: two sessions, two workers, the outbox and the queue; how it is copied and told apart. */

export type SessionName = 'parent' | 'child';
export type WorkerName = 'w1' | 'w2';
export type EntryKind = 'prompt' | 'question' | 'answer' | 'message' | 'peer' | 'notice';

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
  | 'no-parent-lock';

export type Rules = ReadonlySet<Mutation>;

export interface Entry {
  readonly kind: EntryKind;
  /** The turn that it opened. */
  turn: number | null;
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

export interface Question {
  status: 'pending' | 'answered' | 'superseded' | 'stale';
  answers: number;
}

export interface Job {
  readonly session: SessionName;
  worker: WorkerName | null;
}

export interface Core {
  /** The child's question to its parent, and how many there were. */
  question: Question | null;
  questions: number;
  outbox: SessionName[];
  jobs: Job[];
  readonly sessions: Readonly<Record<SessionName, Session>>;
  readonly workers: Readonly<Record<WorkerName, Worker>>;
  /** Something that must never happen, seen by the action in which it happened. */
  incident: string | null;
}

export const SESSIONS: readonly SessionName[] = ['parent', 'child'];
export const WORKERS: readonly WorkerName[] = ['w1', 'w2'];

const session = (): Session => ({ queue: [], turns: [], lease: null, epoch: 0 });
const worker = (): Worker => ({ at: 'idle', isAlive: true, session: null, epoch: 0, hasCalled: false });

export function createCore(): Core {
  return {
    question: null,
    questions: 0,
    outbox: [],
    jobs: [],
    sessions: { parent: session(), child: session() },
    workers: { w1: worker(), w2: worker() },
    incident: null,
  };
}

/** A copy whose rows can be changed; what a model adds is taken over as it is. */
export function copyCore<State extends Core>(core: State): State {
  return {
    ...core,
    question: core.question && { ...core.question },
    outbox: [...core.outbox],
    jobs: core.jobs.map((job) => ({ ...job })),
    sessions: { parent: copySession(core.sessions.parent), child: copySession(core.sessions.child) },
    workers: { w1: { ...core.workers.w1 }, w2: { ...core.workers.w2 } },
  };
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

function encodeRows({ question, questions, outbox, sessions, incident }: Core): string {
  const asked = question ? `${question.status}${String(question.answers)}` : '';
  return `${asked}/${String(questions)}/${[...outbox].sort().join()}/${incident ?? ''}/${SESSIONS.map((name) => encodeSession(sessions[name])).join()}`;
}

function encodeSession({ queue, turns, epoch }: Session): string {
  const entries = queue.map(({ kind, turn }) => `${kind}${String(turn)}`);
  const journal = turns.map(
    ({ kind, wasGated, isOpen, progress, endedByQuestion, isParked, waits }) =>
      `${kind}${flags(wasGated, isOpen, endedByQuestion, isParked)}${String(progress)}${waits.join('+')}`,
  );
  return `${entries.join()};${journal.join()};${String(epoch)}`;
}

/** Everything that names a worker, with the workers counted in the given order. */
function encodeWorkers({ jobs, sessions, workers }: Core, order: readonly WorkerName[]): string {
  const held = SESSIONS.map((name) => {
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
