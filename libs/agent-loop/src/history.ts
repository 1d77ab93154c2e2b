import { UNRUN } from './call-result.js';
import type { ModelMessage, ToolCallPart, ToolResultPart } from './model-port.js';

interface PlacedResult {
  readonly part: ToolResultPart;
  readonly at: number;
  used: boolean;
}

/**
 * Makes every call have exactly one result, right after its message: a misplaced result is moved, a duplicate or orphan is dropped,
 * a missing one is made up as an error. Returns the same array when nothing had to change. Cost grows with the history: once per run.
 */
export function pairHistory(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const results = collectResults(messages);
  const paired: ModelMessage[] = [];
  messages.forEach((message, at) => {
    if (message.role === 'tool') return;
    paired.push(message);
    if (message.role !== 'assistant') return;
    const calls = message.parts.filter((part) => part.type === 'tool_call');
    if (calls.length > 0) paired.push(answer(calls, at, messages, results));
  });
  return isUnchanged(messages, paired) ? messages : paired;
}

function collectResults(messages: readonly ModelMessage[]): Map<string, PlacedResult[]> {
  const results = new Map<string, PlacedResult[]>();
  messages.forEach((message, at) => {
    if (message.role !== 'tool') return;
    for (const part of message.parts) {
      const placed = { part, at, used: false };
      const others = results.get(part.call_id);
      if (others === undefined) results.set(part.call_id, [placed]);
      else others.push(placed);
    }
  });
  return results;
}

function answer(
  calls: readonly ToolCallPart[],
  at: number,
  messages: readonly ModelMessage[],
  results: Map<string, PlacedResult[]>,
): ModelMessage {
  const parts = calls.map((call) => takeResult(results.get(call.call_id), at) ?? makeUp(call));
  const next = messages[at + 1];
  return next?.role === 'tool' && holdsExactly(next.parts, parts) ? next : { role: 'tool', parts };
}

/** The first unused result after the call, else one that stands before it. */
function takeResult(candidates: PlacedResult[] | undefined, at: number): ToolResultPart | null {
  const found = candidates?.find((result) => !result.used && result.at > at) ?? candidates?.find((result) => !result.used);
  if (found === undefined) return null;
  found.used = true;
  return found.part;
}

function makeUp(call: ToolCallPart): ToolResultPart {
  return { type: 'tool_result', call_id: call.call_id, name: call.name, text: UNRUN.noResult, is_error: true };
}

/** Results of one message may stand in any order. */
function holdsExactly(existing: readonly ToolResultPart[], wanted: readonly ToolResultPart[]): boolean {
  return existing.length === wanted.length && wanted.every((part) => existing.includes(part));
}

function isUnchanged(before: readonly ModelMessage[], after: readonly ModelMessage[]): boolean {
  return before.length === after.length && before.every((message, at) => message === after[at]);
}
