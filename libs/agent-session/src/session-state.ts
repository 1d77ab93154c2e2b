/** What the records of a session add up to (agent-loop.md §7): history, counters, and what is known of a turn that never ended. */
import {
  compactHistory,
  type IdentifiedCall,
  type KnownCalls,
  type LoopCounters,
  type ModelMessage,
  NEW_COUNTERS,
  type SendType,
  type SettledCall,
  type TextPart,
  type StartingPoint,
  type ToolResultPart,
} from '@echelon/agent-loop';
import type { PermissionMode } from '@echelon/domain';
import type { SessionRecord } from './session-record.js';
import type { Todo } from './todo-list.js';

export interface OpenTurn {
  readonly number: number;
  readonly promptId: string;
  readonly sendType: SendType;
  /** What a person opened it with. */
  readonly prompt?: readonly TextPart[] | undefined;
}

export interface SessionState {
  readonly history: ModelMessage[];
  /** The opening of the last turn and its Leads, in the history. */
  instructions: ModelMessage[];
  /** How many messages at the beginning of the history a compaction put there. */
  compacted: number;
  /** The responses that compactions took out of the history. */
  readonly replaced: ModelMessage[];
  turns: number;
  /** A turn that has not ended: it runs, or the process that ran it died. */
  open: OpenTurn | null;
  /** Of the last turn. */
  counters: LoopCounters;
  /** What the subagents of the last turn used. */
  subagents: { readonly tokens: number; readonly cost: number };
  mode: PermissionMode | null;
  readonly grants: Set<string>;
  todos: readonly Todo[];
  /** Commands that began and have no result, by call id. */
  readonly processes: Map<string, object>;
  /** The calls of the last response while its results are not all in the history. */
  batch: OpenBatch | null;
  /** The last response of the last turn, if it made no calls. */
  answer: { readonly message: ModelMessage; readonly answered: Answered } | null;
}

type Answered = NonNullable<StartingPoint['answered']>;

interface OpenBatch {
  readonly calls: readonly Pick<IdentifiedCall, 'callId' | 'name'>[];
  readonly results: Map<string, SettledCall>;
  readonly intended: Set<string>;
}

const NOTHING_USED = { tokens: 0, cost: 0 };

function newSessionState(): SessionState {
  return {
    history: [],
    instructions: [],
    compacted: 0,
    replaced: [],
    turns: 0,
    open: null,
    counters: NEW_COUNTERS,
    subagents: NOTHING_USED,
    mode: null,
    grants: new Set(),
    todos: [],
    processes: new Map(),
    batch: null,
    answer: null,
  };
}

/** Adds records up, in order. */
export function restoreState(records: readonly SessionRecord[]): SessionState {
  const state = newSessionState();
  for (const record of records) noteRecord(state, record);
  return state;
}

export function noteRecord(state: SessionState, record: SessionRecord): void {
  switch (record.type) {
    case 'turn':
      state.turns = record.number;
      state.open = { number: record.number, promptId: record.prompt_id, sendType: record.send_type, prompt: record.prompt };
      state.instructions = [];
      state.subagents = NOTHING_USED;
      state.answer = null;
      return;
    case 'message':
      if (record.said !== undefined || opensTurn(state)) state.instructions.push(record.message);
      return say(state, record.message);
    case 'compaction':
      return compact(state, record);
    case 'request':
      closeBatch(state);
      state.counters = record.counters;
      return;
    case 'response':
      return accept(state, record.response);
    case 'intents':
      for (const id of record.call_ids) state.batch?.intended.add(id);
      return;
    case 'results':
      for (const result of record.results) settle(state, result);
      return;
    case 'process':
      state.processes.set(record.call_id, record.process);
      return;
    case 'subagent_use':
      state.subagents = { tokens: state.subagents.tokens + record.tokens, cost: state.subagents.cost + record.cost };
      return;
    case 'mode':
      state.mode = record.mode;
      return;
    case 'grant':
      state.grants.add(record.grant);
      return;
    case 'todos':
      state.todos = record.todos;
      return;
    case 'dropped_response':
      dropResponse(state.history);
      return;
    case 'turn_end':
      closeBatch(state);
      state.open = null;
      state.counters = record.counters ?? state.counters;
      return;
  }
}

function say(state: SessionState, message: ModelMessage): void {
  closeBatch(state);
  state.history.push(message);
}

/** The next message is the first one of a turn that a person opened. */
function opensTurn({ open, instructions }: SessionState): boolean {
  return open?.sendType === 'user' && instructions.length === 0;
}

/** The prompt of a turn that died before its first request, so that no message holds it yet. */
export function unsentPrompt(state: SessionState): readonly TextPart[] | undefined {
  return opensTurn(state) ? state.open?.prompt : undefined;
}

function accept(
  state: SessionState,
  { message, calls, complete, counters, model, reason }: Extract<SessionRecord, { type: 'response' }>['response'],
): void {
  state.counters = counters;
  if (!complete || message === null) return;
  say(state, message);
  state.answer = calls.length > 0 ? null : { message, answered: { model, reason } };
  if (calls.length > 0) state.batch = { calls, results: new Map(), intended: new Set() };
}

function settle({ batch, processes }: SessionState, result: SettledCall): void {
  batch?.results.set(result.callId, result);
  for (const id of processes.keys()) if (id === result.callId || id.startsWith(`${result.callId}/`)) processes.delete(id);
}

/** A batch of which nothing stays is over. */
function compact(state: SessionState, record: Extract<SessionRecord, { type: 'compaction' }>): void {
  if (record.kept === 0) closeBatch(state);
  const { history } = state;
  const left = compactHistory(history, record);
  const stays = new Set(left);
  state.replaced.push(...history.filter((message) => message.role === 'assistant' && !stays.has(message)));
  state.instructions = [...record.instructions, ...state.instructions.filter((message) => stays.has(message))];
  history.splice(0, Infinity, ...left);
  state.compacted = 1 + record.instructions.length;
  state.counters = record.counters;
}

/** Results stand in one message, in the order of their calls; a call without one is answered when the history is paired. */
function closeBatch(state: SessionState): void {
  const { batch } = state;
  state.batch = null;
  if (batch === null) return;
  const parts = batch.calls.flatMap(({ callId }): ToolResultPart[] => {
    const result = batch.results.get(callId);
    return result === undefined
      ? []
      : [{ type: 'tool_result', call_id: callId, name: result.name, text: result.text, is_error: result.isError }];
  });
  if (parts.length > 0) state.history.push({ role: 'tool', parts });
}

/** What is known of the batch that an interrupted turn left open; its results are not in the history yet. */
export function knownCalls({ batch }: SessionState): KnownCalls | undefined {
  if (batch === null) return undefined;
  const intended = [...batch.intended].filter((id) => !batch.results.has(id));
  return { results: batch.results, intended: new Set(intended), waiting: new Map() };
}

/** An interrupted turn's last response, while it is not decided whether it ends the turn. */
export function findAnswer({ history, answer }: SessionState): Answered | undefined {
  return answer !== null && history.at(-1) === answer.message ? answer.answered : undefined;
}

/** Takes a response without calls off the end. */
export function dropResponse(history: ModelMessage[]): boolean {
  const last = history.at(-1);
  if (last?.role !== 'assistant' || last.parts.some(({ type }) => type === 'tool_call')) return false;
  history.pop();
  return true;
}
