/** How a prompt ends for an editor: every reason for which the loop stops, in one table (agent-loop.md §3). */
import type { Budget, LoopErrorKind, LoopStop, StopReason } from '@echelon/agent-loop';
import { RequestError, type StopReason as AcpStopReason } from '@agentclientprotocol/sdk/unstable';

/** An answer to the prompt, with what a person should read first; or an error, because an answer would tell of a success. */
export type PromptEnd =
  { readonly stopReason: AcpStopReason; readonly say?: string } | { readonly code: StopReason | LoopErrorKind; readonly message: string };

type Ends = { readonly [Reason in StopReason]: (stop: Extract<LoopStop, { reason: Reason }>) => PromptEnd };

const PROMPT_ENDS: Ends = {
  completed: () => ({ stopReason: 'end_turn' }),
  completed_empty: () => ({ stopReason: 'end_turn', say: 'The model ended without an answer.' }),
  next_round: () => ({ stopReason: 'max_turn_requests' }),
  cancelled: () => ({ stopReason: 'cancelled' }),
  loop_detected: ({ explanation }) => ({ code: 'loop_detected', message: `The model runs in circles: ${explanation}.` }),
  duplicate_provider_call: () => ({
    code: 'duplicate_provider_call',
    message: 'The model repeats calls that were already handled; none of them was run again.',
  }),
  tool_ended_turn: () => ({ stopReason: 'end_turn' }),
  // A person declined a call.
  surface_ended: () => ({ stopReason: 'end_turn' }),
  turn_cap: ({ cap }) => ({ stopReason: 'max_turn_requests', say: `The session has used its ${cap} model requests.` }),
  token_limit: ({ limit }) => ({ stopReason: 'max_tokens', say: `The session has reached its limit of ${limit} tokens.` }),
  prompt_blocked: ({ explanation }) => ({ stopReason: 'refusal', say: `A hook blocked this prompt: ${explanation}` }),
  output_limit: () => ({ stopReason: 'max_tokens' }),
  content_filtered: () => ({ stopReason: 'refusal' }),
  tool_format: () => ({ code: 'tool_format', message: 'The model wrote calls that cannot be read, twice.' }),
  budget_exhausted: ({ budget }) => ({ ...BUDGET_ENDS[budget] }),
  parked: () => ({ code: 'parked', message: 'The turn waits for something that this surface cannot wait for.' }),
  handed_over: () => ({ code: 'handed_over', message: 'The turn was given up because its process ends.' }),
  error: ({ kind, message }) => ({ code: kind, message }),
};

const BUDGET_ENDS: Readonly<Record<Budget, PromptEnd>> = {
  rounds: { stopReason: 'max_turn_requests', say: 'The budget of model requests is spent.' },
  launches: { stopReason: 'max_turn_requests', say: 'The budget of tool calls is spent.' },
  wall_time: { stopReason: 'max_turn_requests', say: 'The time for this prompt is spent.' },
  tokens: { stopReason: 'max_tokens', say: 'The budget of tokens is spent.' },
  cost: { stopReason: 'max_tokens', say: 'The budget of cost is spent.' },
};

export function toPromptEnd(stop: LoopStop): PromptEnd {
  const end = PROMPT_ENDS[stop.reason] as (stop: LoopStop) => PromptEnd;
  return end(stop);
}

/** JSON-RPC error of a prompt that failed: `data` has `code`, `stop_reason`, and of a failed request its HTTP status. */
export function toPromptError({ code, message }: Extract<PromptEnd, { code: unknown }>, stop: LoopStop): RequestError {
  const failure = stop.reason === 'error' ? stop.failure : undefined;
  const { kind, status, retryable } = failure ?? {};
  const details = failure === undefined ? {} : { failure: { kind, status, retryable } };
  return new RequestError(-32603, message, { code, stop_reason: stop.reason, ...details });
}
