/**
 * Where a turn begins or goes on: the loop's starting point, rebuilt from the journal (agent-loop.md §7, K13, K17).
 *
 * B1  Results of one batch stand in one message, in the order of the calls, as an uninterrupted run would have sent them.
 * B2  The results of the last batch of this turn are handed over as known: the loop enters the batch in its middle.
 */
import type { KnownCalls, LoopCounters, ModelMessage, StartingPoint, ToolCallPart, ToolResultPart } from '@echelon/agent-loop';
import { type HistoryRow, listHistory, listToolCalls, type StoredCall, type Tx } from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { parseParts } from './message-content.js';

/** Loads the session's history and what is known of an unfinished batch of this turn. */
export async function loadStartingPoint(tx: Tx, { session, turn }: Pick<ClaimedTurn, 'session' | 'turn'>): Promise<StartingPoint> {
  const [rows, calls] = await Promise.all([listHistory(tx, session.id), listToolCalls(tx, turn.id)]);
  const { history, trailing } = splitLastBatch(rows, turn.id);
  return {
    history: toMessages(history),
    ...(trailing ? { known: knownOf(calls, trailing) } : {}),
    ...(turn.counters ? { counters: turn.counters as unknown as LoopCounters } : {}),
  };
}

/** Takes the results off a history of this turn that ends with a batch; `null` where it does not. */
function splitLastBatch(
  rows: readonly HistoryRow[],
  turnId: string,
): { readonly history: readonly HistoryRow[]; readonly trailing: readonly HistoryRow[] | null } {
  const at = rows.findLastIndex((row) => row.role !== 'tool');
  const last = rows[at];
  if (last?.role !== 'assistant' || last.turn_id !== turnId || callsOf(last).length === 0) return { history: rows, trailing: null };
  return { history: rows.slice(0, at + 1), trailing: rows.slice(at + 1) };
}

function callsOf(row: HistoryRow): readonly ToolCallPart[] {
  return parseParts(row.content).filter((part) => part.type === 'tool_call');
}

function knownOf(calls: readonly StoredCall[], results: readonly HistoryRow[]): KnownCalls {
  const known = results.flatMap((row) =>
    parseParts(row.content)
      .filter((part): part is ToolResultPart => part.type === 'tool_result')
      .map((part) => [part.call_id, { text: part.text, isError: part.is_error, endsTurn: row.metadata.ends_turn === true }] as const),
  );
  return {
    results: new Map(known),
    intended: new Set(calls.filter((call) => call.state === 'intent').map((call) => call.call_id)),
    waiting: new Map(),
  };
}

function toMessages(rows: readonly HistoryRow[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let order: readonly string[] = [];
  for (const row of rows) {
    const message = { role: row.role, parts: parseParts(row.content) } as ModelMessage;
    const before = messages.at(-1);
    if (message.role === 'tool' && before?.role === 'tool') messages[messages.length - 1] = joinResults(before, message, order);
    else messages.push(message);
    if (message.role === 'assistant') order = message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.call_id] : []));
  }
  return messages;
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

function joinResults(one: ToolMessage, other: ToolMessage, order: readonly string[]): ToolMessage {
  const place = (part: ToolResultPart): number => order.indexOf(part.call_id);
  return { role: 'tool', parts: [...one.parts, ...other.parts].toSorted((a, b) => place(a) - place(b)) };
}
