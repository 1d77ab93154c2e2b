/**
 * What a session may do next: the one admissibility function of claim, drain, sweep and enqueue (K6, K10).
 *
 * N1  A terminal session does nothing; nor does one whose agent somebody else runs (its owner fetches entries by itself).
 * N2  An unfinished turn goes before any entry: a parked one when every wait is decided or its time has come.
 * N3  Among entries the lowest rank, then the lowest order; the table below says what an obstacle lets through.
 */
import type { EntryKind } from './queue-entry.js';
import { sessionMachine, type SessionState } from './session.js';
import { taskMachine, type TaskState } from './task.js';

/** What can keep an entry of a live session from opening a turn. */
export const OBSTACLES = ['question_pending', 'auto_run_off', 'task_blocked', 'task_closed'] as const;
export type Obstacle = (typeof OBSTACLES)[number];

const NONE: Readonly<Record<EntryKind, boolean>> = {
  prompt: false,
  answer: false,
  question: false,
  alert: false,
  notice: false,
  reminder: false,
};

/** What each kind may do under each obstacle: `true` opens a turn all the same (autopilot-contract.md §8). */
export const ADMITTED: Readonly<Record<Obstacle, Readonly<Record<EntryKind, boolean>>>> = {
  question_pending: { ...NONE, answer: true },
  auto_run_off: NONE,
  task_blocked: NONE,
  task_closed: NONE,
};

export interface OpenTurnFacts {
  readonly id: string;
  readonly parked: boolean;
  /** Waits that nobody has decided yet. */
  readonly openWaits: number;
  /** The turn's `wake_at` has passed. */
  readonly wakeDue: boolean;
  /** A backoff after an involuntary resume has not passed (K22). */
  readonly backingOff: boolean;
}

export interface QueuedEntryFacts {
  readonly id: string;
  readonly kind: EntryKind;
  readonly rank: number;
  readonly order: number;
}

export interface AdmissionFacts {
  /** We start the turns of the session's runtime ourselves. */
  readonly driven: boolean;
  readonly sessionState: SessionState;
  readonly autoRun: boolean;
  readonly taskState: TaskState;
  readonly taskArchived: boolean;
  /** A dependency of the task has not been released. */
  readonly dependencyOpen: boolean;
  readonly openTurn: OpenTurnFacts | null;
  readonly questionPending: boolean;
  readonly entries: readonly QueuedEntryFacts[];
}

export type NextWork =
  | { readonly do: 'resume'; readonly turnId: string }
  | { readonly do: 'open'; readonly entryId: string }
  | { readonly do: 'nothing'; readonly because: 'terminal' | 'not_driven' | 'parked' | 'backing_off' | 'empty' | Obstacle };

/** Decides what the holder of the session's lease would do now. */
export function nextWork(facts: AdmissionFacts): NextWork {
  if (sessionMachine.isTerminal(facts.sessionState)) return { do: 'nothing', because: 'terminal' };
  if (!facts.driven) return { do: 'nothing', because: 'not_driven' };
  if (facts.openTurn) return nextOfTurn(facts.openTurn);
  const obstacles = obstaclesOf(facts);
  const admitted = facts.entries.filter((entry) => obstacles.every((obstacle) => ADMITTED[obstacle][entry.kind]));
  const first = admitted.reduce<QueuedEntryFacts | null>((best, entry) => (best && !precedes(entry, best) ? best : entry), null);
  if (first) return { do: 'open', entryId: first.id };
  return { do: 'nothing', because: facts.entries.length === 0 ? 'empty' : (obstacles[0] ?? 'empty') };
}

/** The same for whoever hands the session's entries out: its worker, or the service that a runtime of somebody else fetches them from. */
export function nextDelivery(facts: AdmissionFacts): NextWork {
  return nextWork({ ...facts, driven: true });
}

/** Whether nothing but the session's own agent keeps it from working: the agent may open a turn without an entry. */
export function mayWork(facts: AdmissionFacts): boolean {
  return !sessionMachine.isTerminal(facts.sessionState) && obstaclesOf(facts).length === 0;
}

function nextOfTurn(turn: OpenTurnFacts): NextWork {
  if (turn.parked && turn.openWaits > 0 && !turn.wakeDue) return { do: 'nothing', because: 'parked' };
  if (turn.backingOff) return { do: 'nothing', because: 'backing_off' };
  return { do: 'resume', turnId: turn.id };
}

function obstaclesOf(facts: AdmissionFacts): readonly Obstacle[] {
  const found: Obstacle[] = [];
  if (facts.taskArchived || taskMachine.isTerminal(facts.taskState)) found.push('task_closed');
  if (facts.questionPending) found.push('question_pending');
  if (!facts.autoRun) found.push('auto_run_off');
  if (facts.taskState === 'blocked' || facts.dependencyOpen) found.push('task_blocked');
  return found;
}

function precedes(a: QueuedEntryFacts, b: QueuedEntryFacts): boolean {
  return a.rank !== b.rank ? a.rank < b.rank : a.order < b.order;
}
