/** What became of a call. Every call of every response has exactly one of these (agent-loop.md §5). */
import type { KnownCalls } from './batch-ports.js';
import type { ToolCall } from './model-port.js';
import type { ToolResult } from './tool-port.js';

/** How a call stands to the calls that came before it. */
export type CallStanding =
  | 'fresh'
  /** The same call again within its response. */
  | 'repeat'
  /** A call that an earlier response made already. */
  | 'replay'
  /** A second replay of it, or twice in one response: the provider runs in circles. */
  | 'replay_again';

export interface IdentifiedCall extends ToolCall {
  /** Unique in the session; a provider's id that is missing or taken is replaced. */
  readonly callId: string;
  readonly standing: CallStanding;
  /** There is evidence that the arguments were cut off. */
  readonly cutOff: boolean;
}

export type CallStatus =
  | 'succeeded'
  | 'failed'
  | 'invalid'
  | 'denied'
  | 'superseded'
  | 'duplicate'
  | 'replay'
  | 'not_executed'
  | 'cancelled'
  /** It started and nobody knows how it ended. */
  | 'unknown';

export interface SettledCall {
  readonly callId: string;
  readonly name: string;
  readonly status: CallStatus;
  /** What the model reads. */
  readonly text: string;
  readonly isError: boolean;
  readonly endsTurn: boolean;
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** Settles a call that brought no result of its own. */
export function settleUnrun(call: ToolCall, status: Exclude<CallStatus, 'succeeded' | 'failed'>, text: string): SettledCall {
  return { callId: call.callId, name: call.name, status, text, isError: true, endsTurn: false };
}

/** Settles a call with what its tool returned. */
export function settleRun(call: ToolCall, result: ToolResult): SettledCall {
  return {
    callId: call.callId,
    name: call.name,
    status: result.isError ? 'failed' : 'succeeded',
    text: result.text,
    isError: result.isError,
    endsTurn: result.endsTurn ?? false,
    ...(result.structured === undefined ? {} : { structured: result.structured }),
  };
}

/** What the model reads where a call brought no result; one place, so that every surface says the same. */
export const UNRUN = {
  repeat: 'Duplicate: the same call stands earlier in this response and was answered there. It was not executed again.',
  replay: 'This call was already handled earlier and was not executed again. Use its earlier result, or make a new call.',
  circles: 'Not executed: the response repeats calls that were already handled, so none of its calls was run.',
  afterTurnEnd: 'Not executed: an earlier call of this response ends the turn.',
  redirected:
    'Not executed: the operator redirected the turn. This output does not exist; call again if it is still needed after the new instruction.',
  cutOffEdit: 'Not executed: the arguments of this call were cut off. Send the complete call again, in smaller pieces if it is long.',
  loop: 'Not executed: the same call was made too many times in a row.',
  cancelled: 'Not executed: the run was cancelled.',
  approvalCancelled: 'Not executed: the run was cancelled while this call waited for approval.',
  approvalSuperseded: 'Not executed: its approval was superseded.',
  refusedByHost: 'Not executed: the host did not start this call.',
  launchBudget: 'Not executed: the budget of tool calls for this run is spent.',
  persistence: 'Not executed: the run stopped because its progress could not be stored.',
  interrupted: 'Not executed: the run was interrupted before this call started.',
  stoppedWhileRunning: 'Cancelled while it was running.',
  unknown: 'The outcome of this call is unknown: the run was interrupted after it had started. Inspect before retrying.',
  unreachable:
    'The outcome of this call is unknown: it was started on another machine, which has gone silent, and may still be running. Inspect before retrying.',
  fault: 'The tool failed unexpectedly.',
  noResult: 'No result was recorded for this call.',
} as const;

/** Settles what an interrupted turn left open: a started call has an unknown outcome, the rest never ran; known results are left out. */
export function settleInterrupted(
  calls: readonly Pick<ToolCall, 'callId' | 'name'>[],
  known: KnownCalls | undefined,
): readonly SettledCall[] {
  return calls
    .filter(({ callId }) => known?.results.has(callId) !== true)
    .map(({ callId, name }) =>
      known?.intended.has(callId) === true
        ? { callId, name, status: 'unknown', text: UNRUN.unknown, isError: true, endsTurn: false }
        : { callId, name, status: 'not_executed', text: UNRUN.interrupted, isError: true, endsTurn: false },
    );
}
