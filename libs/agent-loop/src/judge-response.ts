import type { ResponseCollector } from './response.js';
import { isCutOff, isUnfinishedJson } from './truncation.js';
import { printsToolMarkup } from './tool-markup.js';
import type { ToolCall, UnifiedFinishReason } from './model-port.js';

const MAY_RUN: ReadonlySet<UnifiedFinishReason> = new Set(['stop', 'tool_calls']);

/** Only a response that ended on its own may have its calls run. */
export function mayRunCalls(reason: UnifiedFinishReason): boolean {
  return MAY_RUN.has(reason);
}

/**
 * The finish reason that holds here: the provider's, corrected by evidence. `tool_calls` with evidence of truncation is an output limit;
 * `tool_calls` without a call and tool markup printed as text are a broken tool format.
 */
export function judgeFinish(collected: ResponseCollector, requestedLimit: number | null, toolNames: Iterable<string>): UnifiedFinishReason {
  const { finish, calls } = collected;
  if (finish === null) return 'interrupted';
  if (finish.reason === 'tool_calls') {
    if (calls.length === 0) return 'tool_format';
    const end = { lastArguments: calls.at(-1)?.arguments ?? null, outputTokens: finish.usage.outputTokens, requestedLimit };
    return isCutOff(end) ? 'output_limit' : 'tool_calls';
  }
  if (finish.reason === 'stop' && calls.length === 0 && printsToolMarkup(collected.text, toolNames)) return 'tool_format';
  return finish.reason;
}

/** Under a clean `stop` only the last call can be cut off; it is marked, and the edit guard of the batch looks at the mark. */
export function isCallCutOff(
  calls: readonly ToolCall[],
  index: number,
  outputTokens: number | null,
  requestedLimit: number | null,
): boolean {
  const call = calls[index];
  if (call === undefined || index !== calls.length - 1) return false;
  return isUnfinishedJson(call.arguments) || (requestedLimit !== null && outputTokens !== null && outputTokens >= requestedLimit);
}
