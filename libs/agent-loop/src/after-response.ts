/** What follows from a response, in one table (agent-loop.md §4, §6). */
import type { RetryCause } from './loop-events.js';
import type { ModelResponse } from './response.js';
import type { LoopStop } from './stop-reason.js';

/** Continuations of a text that ran into the output limit, per turn. */
const OUTPUT_CONTINUATIONS = 3;
/** Repetitions after a broken tool format, per turn (W8). */
const TOOL_FORMAT_RETRIES = 1;

export interface ResponseFacts {
  readonly leadPending: boolean;
  readonly toolFormatRetries: number;
  readonly outputContinuations: number;
  /** The model allows more output than was asked for. */
  readonly canEscalate: boolean;
}

export type AfterResponse =
  | { readonly next: 'batch' }
  | { readonly next: 'stop_point' }
  /** The same round again, without this response. */
  | { readonly next: 'again'; readonly cause: Extract<RetryCause, 'output_limit' | 'tool_format'> }
  /** The response counts; the next request asks for the rest of its text. */
  | { readonly next: 'continue_output' }
  /** The response counts; the next request carries the pending Lead (W6). */
  | { readonly next: 'lead' }
  | { readonly next: 'stop'; readonly stop: LoopStop };

export function decideAfterResponse(response: ModelResponse, facts: ResponseFacts): AfterResponse {
  switch (response.reason) {
    case 'stop':
    case 'tool_calls':
      return { next: response.calls.length > 0 ? 'batch' : 'stop_point' };
    case 'output_limit':
      return decideOutputLimit(response, facts);
    case 'tool_format':
      if (facts.toolFormatRetries < TOOL_FORMAT_RETRIES) return { next: 'again', cause: 'tool_format' };
      return { next: 'stop', stop: { reason: 'tool_format' } };
    case 'content_filtered':
      return { next: 'stop', stop: { reason: 'content_filtered' } };
    case 'interrupted':
      return { next: 'stop', stop: { reason: 'error', kind: 'stream_interrupted', message: 'the stream ended without a finish reason' } };
    case 'other':
      return response.withheldCalls === 0 ? { next: 'stop_point' } : { next: 'stop', stop: unknownFinish(response) };
  }
}

function decideOutputLimit(response: ModelResponse, facts: ResponseFacts): AfterResponse {
  if (facts.leadPending) return { next: 'lead' };
  if (response.withheldCalls > 0) return { next: 'stop', stop: { reason: 'output_limit' } };
  if (facts.canEscalate) return { next: 'again', cause: 'output_limit' };
  if (facts.outputContinuations < OUTPUT_CONTINUATIONS) return { next: 'continue_output' };
  return { next: 'stop', stop: { reason: 'output_limit' } };
}

function unknownFinish(response: ModelResponse): LoopStop {
  const message = `the provider ended the response with the unknown reason ${response.rawReason ?? '(none)'}`;
  return { reason: 'error', kind: 'unknown_finish', message };
}
