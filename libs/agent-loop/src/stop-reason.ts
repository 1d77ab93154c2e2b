/**
 * Why the loop stopped: the only place where an end is told (agent-loop.md §3). Surfaces map every reason in one exhaustive table,
 * so that none can drop one and report a false success.
 */
import type { ModelFailure } from './model-port.js';

export type LoopErrorKind =
  /** The request failed and could not be repeated; `failure` says how. */
  | 'model_request'
  /** The stream dropped after output, twice in one round; the partial text is kept. */
  | 'stream_interrupted'
  /** Calls came with a finish reason that nobody knows, so they may not run. */
  | 'unknown_finish'
  /** A barrier or the artifact store failed; nothing was executed past it. */
  | 'persistence'
  /** Another worker owns the session now; this one must not write. */
  | 'lease_lost'
  /** The prompt cannot fit the window; no request was sent (W9). */
  | 'prompt_too_large'
  /** A limit has a value that means nothing, such as a turn cap of 0. */
  | 'configuration';

/** What a parked loop waits for (K13). */
export type Wait =
  | { readonly kind: 'approval'; readonly callId: string; readonly waitsFor: string }
  | { readonly kind: 'result'; readonly callId: string; readonly waitsFor: string }
  | { readonly kind: 'retry'; readonly milliseconds: number };

export type Budget = 'rounds' | 'launches' | 'wall_time' | 'tokens' | 'cost';

export type LoopStop =
  | { readonly reason: 'completed' }
  | { readonly reason: 'completed_empty'; readonly toolsAnswered: boolean }
  | { readonly reason: 'next_round' }
  | { readonly reason: 'cancelled'; readonly by: 'signal' | 'stop' }
  | { readonly reason: 'loop_detected'; readonly explanation: string }
  | { readonly reason: 'duplicate_provider_call'; readonly callId: string }
  | { readonly reason: 'tool_ended_turn'; readonly callId: string; readonly tool: string }
  | { readonly reason: 'surface_ended' }
  | { readonly reason: 'turn_cap'; readonly cap: number }
  | { readonly reason: 'token_limit'; readonly limit: number; readonly used: number }
  | { readonly reason: 'prompt_blocked'; readonly explanation: string }
  | { readonly reason: 'output_limit' }
  | { readonly reason: 'content_filtered' }
  | { readonly reason: 'tool_format' }
  | { readonly reason: 'budget_exhausted'; readonly budget: Budget }
  | { readonly reason: 'parked'; readonly for: readonly Wait[] }
  | { readonly reason: 'handed_over' }
  | { readonly reason: 'error'; readonly kind: LoopErrorKind; readonly message: string; readonly failure?: ModelFailure };

export type StopReason = LoopStop['reason'];
