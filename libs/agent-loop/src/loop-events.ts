import type { ModelEvent, ModelFailure, Usage } from './model-port.js';
import type { CallStatus, SettledCall } from './call-result.js';

/** Why an attempt is sent again. */
export type RetryCause = 'request_failed' | 'stream_interrupted' | 'empty_response' | 'output_limit' | 'tool_format';

/**
 * What a surface sees while the loop runs: every model event unchanged and in order, and what happens to calls.
 * `attempt_abandoned` voids all output since the last request: a surface resets its partial output. No event ends a run;
 * only the typed stop reason does.
 */
export type LoopEvent =
  | ModelEvent
  | { readonly type: 'attempt_abandoned' }
  | { readonly type: 'retry'; readonly cause: RetryCause; readonly delayMs: number; readonly failure: ModelFailure | null }
  | { readonly type: 'model_fallback'; readonly from: string; readonly to: string }
  /** The oldest part of the history became a summary; tokens of the prompt are estimates, `usage` is what the summary cost. */
  | { readonly type: 'compacted'; readonly usage: Usage; readonly tokensBefore: number; readonly tokensAfter: number }
  | { readonly type: 'hook_message'; readonly hook: 'prompt_submit' | 'before_tool' | 'after_batch' | 'stop'; readonly text: string }
  | { readonly type: 'stop_hook_loop'; readonly blocks: number }
  | { readonly type: 'tool_started'; readonly callId: string; readonly name: string }
  | { readonly type: 'tool_output'; readonly callId: string; readonly chunk: string }
  /** `text` is what the model will read, unless the batch's hook adds to it or its output budget cuts it. */
  | {
      readonly type: 'tool_settled';
      readonly callId: string;
      readonly status: CallStatus;
      readonly text: string;
      readonly structured?: SettledCall['structured'];
      readonly fault?: unknown;
    };

export type EventSink = (event: LoopEvent) => void;
