/** The one result of a subagent: its last words, and the truth about how it ended. */
import type { LoopResult, LoopStop, ModelMessage, StopReason, ToolResult } from '@echelon/agent-loop';

type WhyIncomplete = { readonly [Reason in StopReason]: ((stop: Extract<LoopStop, { reason: Reason }>) => string) | null };

/** Why a subagent has no result of its own, by how its loop stopped; `null`: it completed. */
const WHY_INCOMPLETE: WhyIncomplete = {
  completed: null,
  completed_empty: () => 'it ended without saying anything, also when it was asked for its result',
  next_round: () => 'it was cut off after a fixed number of rounds',
  cancelled: () => 'it was cancelled',
  loop_detected: ({ explanation }) => `it went in circles: ${explanation}`,
  duplicate_provider_call: () => 'its model repeated calls that were answered already',
  tool_ended_turn: ({ tool }) => `a call of ${tool} ended it`,
  surface_ended: () => 'its host ended it',
  turn_cap: ({ cap }) => `it reached the cap of ${cap} model rounds`,
  token_limit: ({ limit }) => `its conversation reached the limit of ${limit} tokens`,
  prompt_blocked: ({ explanation }) => `a hook blocked it: ${explanation}`,
  output_limit: () => 'its answer was longer than its model can write',
  content_filtered: () => 'the provider filtered its answer',
  tool_format: () => 'its model wrote tool calls that cannot be read',
  budget_exhausted: ({ budget }) => `the budget of ${BUDGETS[budget]} is spent`,
  parked: () => 'it came to wait for somebody, which a subagent cannot',
  handed_over: () => 'the process that ran it is ending',
  error: ({ kind, message }) => `${kind}: ${message}`,
};

const BUDGETS = {
  rounds: 'model rounds',
  launches: 'tool calls',
  wall_time: 'time',
  tokens: 'tokens',
  cost: 'cost',
} as const;

export function toSubagentResult(ended: Pick<LoopResult, 'stop' | 'counters'>, history: readonly ModelMessage[]): ToolResult {
  const { stop, counters } = ended;
  const { rounds, launches, tokens } = counters;
  const why = explain(stop);
  const structured = { stop: stop.reason, rounds, launches, tokens };
  if (why === null) return { text: finalText(history), isError: false, structured };
  const said = lastText(history);
  const lines = [
    `The subagent did not complete: ${why}.`,
    `It got through ${count(rounds, 'model round')} and ${count(launches, 'tool call')}; what its calls changed stays changed.`,
    said === '' ? 'It has said nothing.' : `What it said last:\n${said}`,
  ];
  return { text: lines.join('\n'), isError: true, structured };
}

function explain(stop: LoopStop): string | null {
  const why = WHY_INCOMPLETE[stop.reason] as ((stop: LoopStop) => string) | null;
  return why && why(stop);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** What was said since the last results; an answer that was cut off and continued is one text. */
function finalText(history: readonly ModelMessage[]): string {
  const from = history.findLastIndex(({ role }) => role === 'tool') + 1;
  return history.slice(from).map(textOf).join('').trim();
}

/** The last response that said something. */
function lastText(history: readonly ModelMessage[]): string {
  const last = history.findLast((message) => textOf(message).trim() !== '');
  return last === undefined ? '' : textOf(last).trim();
}

function textOf(message: ModelMessage): string {
  return message.role === 'assistant' ? message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') : '';
}
