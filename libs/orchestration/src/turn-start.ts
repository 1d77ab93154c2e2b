/**
 * Where a turn begins or goes on: the loop's starting point, rebuilt from the journal (agent-loop.md §7, K13, K17).
 *
 * B1  Results of one batch stand in one message, in the order of the calls, as an uninterrupted run would have sent them.
 * B2  The results of the last batch of this turn are handed over as known: the loop enters the batch in its middle.
 * B3  After a compaction the history begins with its summary and the rows that it kept (L19).
 * B4  A call that started a subagent and was interrupted is never run again: what the subagent had done is known of it.
 * B5  Where the rows end with a response of this turn without calls, the loop is told so: it enters at its stop point.
 */
import {
  type KnownCalls,
  type LoopCounters,
  type ModelMessage,
  type ModelResponse,
  NEW_COUNTERS,
  type StartingPoint,
  type ToolCallPart,
  type ToolResultPart,
} from '@echelon/agent-loop';
import {
  type HistoryRow,
  listCallingResponses,
  listHistory,
  listToolCalls,
  type ReplacedRows,
  type StoredCall,
  sumThreadTokens,
  type Tx,
} from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { parseParts } from './message-content.js';
import { readTranscripts } from './thread-transcript.js';

export interface TurnStart extends StartingPoint {
  /** Tokens that the turn's subagents have used so far. */
  readonly subagentTokens: number;
}

/** Loads the session's history and what is known of an unfinished batch of this turn. */
export async function loadStartingPoint(tx: Tx, { session, turn }: Pick<ClaimedTurn, 'session' | 'turn'>): Promise<TurnStart> {
  const [rows, calls] = await Promise.all([listHistory(tx, session.id), listToolCalls(tx, turn.id)]);
  const { history: seen, trailing } = splitLastBatch(rows, turn.id);
  const [history, compaction] = [toMessages(seen), rows.find(isCompaction)];
  const { subagentTokens, notes } = await readSubagents(tx, turn.id, calls);
  return {
    history,
    subagentTokens,
    instructions: listInstructions(seen, history, turn.id),
    ...(compaction ? await beyondHistory(tx, session.id, compaction.metadata as unknown as ReplacedRows) : {}),
    ...answerAt(rows.at(-1), turn.id),
    ...(trailing ? { known: { ...knownOf(calls, trailing), notes } } : {}),
    ...(turn.counters ? { counters: { ...NEW_COUNTERS, ...(turn.counters as Partial<LoopCounters>) } } : {}),
  };
}

/** What the turn's subagents have spent, and what those had done that did not come to their end. */
async function readSubagents(
  tx: Tx,
  turnId: string,
  calls: readonly StoredCall[],
): Promise<Pick<TurnStart, 'subagentTokens'> & Required<Pick<KnownCalls, 'notes'>>> {
  const started = calls.filter(({ effect }) => effect === 'agent');
  if (started.length === 0) return { subagentTokens: 0, notes: new Map() };
  const begun = started.filter(({ state }) => state === 'intent').map(({ call_id }) => call_id);
  const [subagentTokens, notes] = await Promise.all([sumThreadTokens(tx, turnId), readTranscripts(tx, turnId, begun)]);
  return { subagentTokens, notes };
}

function isCompaction({ type }: HistoryRow): boolean {
  return type === 'compaction';
}

/** The opening of the turn and its Leads. */
function listInstructions(rows: readonly HistoryRow[], history: readonly ModelMessage[], turnId: string): readonly ModelMessage[] {
  const said = history.filter(({ role }) => role === 'user');
  const spoken = rows.filter(({ role }) => role === 'user');
  return said.filter((_message, at) => {
    const row = spoken[at];
    return row?.turn_id === turnId && (row.type === 'prompt' || row.type === 'lead');
  });
}

/** What the loop has to know of the rows that a summary stands in for. */
async function beyondHistory(
  tx: Tx,
  sessionId: string,
  { kept, through }: ReplacedRows,
): Promise<Required<Pick<StartingPoint, 'compacted' | 'replaced'>>> {
  return { compacted: 1 + kept.length, replaced: toMessages(await listCallingResponses(tx, sessionId, through)) };
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

/** What is known of the response without calls that this turn's rows end with. */
function answerAt(last: HistoryRow | undefined, turnId: string): Pick<StartingPoint, 'answered'> {
  if (last?.role !== 'assistant' || last.turn_id !== turnId || callsOf(last).length > 0) return {};
  const { model, finish_reason } = last.metadata as unknown as { readonly model: string; readonly finish_reason: ModelResponse['reason'] };
  return { answered: { model, reason: finish_reason } };
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
