/**
 * Parking (K13): a turn that waits for two decisions, one of a person and one of a time-out, leaves its worker while they are being made.
 * A transaction is two moves, read and commit, and holds the session's lock between them; everything else may happen in between.
 *
 * P1  Parking reads its waits again under the lock and goes on when all are decided: mutation `park-blind`.
 * P2  A decider holds the lock when it looks whether somebody holds the session: mutation `decide-without-lock`.
 * P3  A parked turn goes on when all its waits are decided: mutation `resume-on-first-decision`.
 */
import {
  announceIfFree,
  claim,
  completeJob,
  currentTurn,
  enqueue,
  freeLease,
  holdsLease,
  isRunnable,
  kill,
  relay,
  settle,
  takeJob,
} from './actions.js';
import { type Core, copyCore, createCore, keyOf, type Mutation, type Rules, type Turn, WORKERS, type WorkerName } from './core.js';
import { type Exploration, explore, type Step, step } from './explore.js';
import { alwaysWrong, wrongWhenQuiet } from './violations.js';

export interface ParkOptions {
  /** Whether a worker may die once, at any moment. */
  readonly canCrash: boolean;
  readonly mutations?: readonly Mutation[];
}

/** Who decides which wait of the turn. */
const DECIDERS = ['person', 'time-out'] as const;
type Decider = (typeof DECIDERS)[number];

interface State extends Core {
  canCrash: boolean;
  /** Who is between read and commit under the session's lock. */
  lock: Decider | WorkerName | null;
  /** What a decider has read: whether somebody holds the session. */
  readonly seen: Record<Decider, 'nothing' | 'held' | 'free' | 'done'>;
  /** What the running loop, and then its parking, has read of the waits: all decided or not. */
  sawOpenWait: boolean | null;
}
