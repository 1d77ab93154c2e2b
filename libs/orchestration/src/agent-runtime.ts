/** The port through which a turn is run: by our own loop, or by an agent over ACP. */
import type { LoopStop } from '@echelon/agent-loop';
import type { ClaimedTurn } from './claim.js';
import type { Unit } from './unit-of-work.js';

/** What can end a turn from outside, each for its own reason. */
export interface TurnSignals {
  /** Somebody stopped the turn (K18). */
  readonly stop: AbortSignal;
  /** The lease is gone: write nothing more, end at once (K4). */
  readonly lost: AbortSignal;
  /** The process ends: stop at the next barrier with `handed_over` (K23). */
  readonly handOver: AbortSignal;
}

/** The turn died in its middle and cannot be taken up again: its agent crashed, or had to be ended with its worker. */
export interface Interrupted {
  readonly reason: 'interrupted';
  readonly explanation: string;
}

/** Why a runtime ended a turn. */
export type TurnStop = LoopStop | Interrupted;

export interface TurnReport {
  readonly stop: TurnStop;
  /** Stores what no barrier has stored yet, in the transaction of the settlement (agent-loop.md §7, barrier 5). */
  readonly record: (unit: Unit) => Promise<void>;
}

export interface AgentRuntime {
  /** Runs one claimed turn to its stop. Must not throw for what an agent, a model or a tool does; a throw is a broken promise. */
  run(claimed: ClaimedTurn, signals: TurnSignals): Promise<TurnReport>;
}
