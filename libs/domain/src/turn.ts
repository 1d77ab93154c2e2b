import { defineMachine, type EventOf, type StateOf } from './machine.js';

/** A turn's life (lead-and-turns.md §1). The three waits are parked turns: they hold no worker (K13). */
export const turnMachine = defineMachine({
  preparing: { begin: 'running', stop: 'stopping', finish: 'finished' },
  running: {
    begin: 'running',
    await_approval: 'waiting_approval',
    await_user: 'waiting_user',
    await_retry: 'waiting_retry',
    stop: 'stopping',
    close_admission: 'finishing',
    finish: 'finished',
  },
  waiting_approval: { begin: 'running', stop: 'stopping', finish: 'finished' },
  waiting_user: { begin: 'running', stop: 'stopping', finish: 'finished' },
  waiting_retry: { begin: 'running', stop: 'stopping', finish: 'finished' },
  stopping: { stop: 'stopping', finish: 'finished' },
  finishing: { finish: 'finished' },
  finished: {},
});
export type TurnStatus = StateOf<typeof turnMachine>;
export type TurnEvent = EventOf<typeof turnMachine>;

/** What a parked turn waits for. */
export type ParkReason = 'approval' | 'user_answer' | 'retry';

export const PARK_EVENTS: Readonly<Record<ParkReason, TurnEvent>> = {
  approval: 'await_approval',
  user_answer: 'await_user',
  retry: 'await_retry',
};

/** How a turn ended (agent-loop.md §3): the loop's stop reason, or `stopped`, or `interrupted`. */
export type TurnOutcome =
  | 'completed'
  | 'completed_empty'
  | 'tool_ended_turn'
  | 'surface_ended'
  | 'stopped'
  | 'cancelled'
  | 'interrupted'
  | 'loop_detected'
  | 'duplicate_provider_call'
  | 'turn_cap'
  | 'token_limit'
  | 'prompt_blocked'
  | 'output_limit'
  | 'content_filtered'
  | 'tool_format'
  | 'budget_exhausted'
  | 'error';

const WELL_ENDED: ReadonlySet<TurnOutcome> = new Set([
  'completed',
  'completed_empty',
  'tool_ended_turn',
  'surface_ended',
  'stopped',
  'cancelled',
]);

/** Somebody's decision ended the turn: what it had signalled before is void (lead-and-turns.md T6, W4). */
export function wasStopped(outcome: TurnOutcome): boolean {
  return outcome === 'stopped' || outcome === 'cancelled';
}

/** A bad end alerts the parent (autopilot-contract.md §8). A stop was somebody's decision and is none. */
export function endedBadly(outcome: TurnOutcome): boolean {
  return !WELL_ENDED.has(outcome);
}
