/** The one table from what providers say at the end of a response to what it means here (agent-loop.md §4). */
import type { ModelEvent, UnifiedFinishReason } from './model-port.js';

const UNIFIED: ReadonlyMap<string, UnifiedFinishReason> = new Map([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['completed', 'stop'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['length', 'output_limit'],
  ['max_tokens', 'output_limit'],
  ['max_output_tokens', 'output_limit'],
  ['incomplete: max_output_tokens', 'output_limit'],
  ['model_context_window_exceeded', 'output_limit'],
  ['content_filter', 'content_filtered'],
  ['safety', 'content_filtered'],
  ['recitation', 'content_filtered'],
  ['refusal', 'content_filtered'],
  ['guardrail_intervened', 'content_filtered'],
  ['malformed_function_call', 'tool_format'],
  ['unexpected_tool_call', 'tool_format'],
]);

/** Maps a provider's own finish reason, in any letter case; `null` or empty means that the stream gave none. */
export function unifyFinishReason(raw: string | null): UnifiedFinishReason {
  if (raw === null || raw === '') return 'interrupted';
  return UNIFIED.get(raw.toLowerCase()) ?? 'other';
}

export type FinishedEvent = Extract<ModelEvent, { type: 'finished' }>;

/** Joins a repeated finish of one stream: the first reason counts, a missing one is filled in, `output_limit` stays. */
export function joinFinish(first: FinishedEvent | null, next: FinishedEvent): FinishedEvent {
  if (first === null) return next;
  const filled = first.rawReason === null && first.reason !== 'output_limit' ? next : first;
  return { ...filled, usage: hasUsage(next) ? next.usage : first.usage };
}

function hasUsage({ usage }: FinishedEvent): boolean {
  return usage.inputTokens !== null || usage.outputTokens !== null;
}
