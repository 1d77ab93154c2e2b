import type { LoopStop, StopReason } from './stop-reason.js';

/** How a turn ends: the loop's stop reason, or `stopped`, or `interrupted` (agent-loop.md §3). */
export type TerminalOutcome = Exclude<StopReason, 'next_round' | 'parked' | 'handed_over'> | 'stopped' | 'interrupted';

export interface TurnEnd {
  /** `null`: no loop came to an end, because the process died. */
  readonly stop: LoopStop | null;
  /** The turn carries a stop flag. */
  readonly stopRequested: boolean;
  /** The turn died and may not be resumed. */
  readonly interrupted: boolean;
}

/**
 * The outcome of a turn, or `null` where it goes on later (`parked`, `handed_over`, `next_round`).
 * Precedence (W4): stopped, interrupted, error, every other explicit reason, completed_empty, completed.
 */
export function turnOutcome({ stop, stopRequested, interrupted }: TurnEnd): TerminalOutcome | null {
  if (stopRequested) return 'stopped';
  if (interrupted || stop === null) return 'interrupted';
  switch (stop.reason) {
    case 'parked':
    case 'handed_over':
    case 'next_round':
      return null;
    case 'cancelled':
      return stop.by === 'stop' ? 'stopped' : 'cancelled';
    default:
      return stop.reason;
  }
}
