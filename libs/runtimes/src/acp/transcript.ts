/**
 * What an agent over ACP says and does, as messages and calls of the session (agent-loop.md §7).
 *
 * T1  A message is closed when its calls begin to run, so that what may have effects is stored before its result is.
 * T2  A call has one result: what the agent reports of it later is not read any more.
 */
import type { SessionUpdate, ToolCallContent, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk/unstable';
import type { ModelMessage, SealedCall, SettledCall, TextPart, ThoughtPart, ToolCallPart, ToolEffect } from '@echelon/agent-loop';
import { canonicalText, LIMITS } from '@echelon/domain';

export type AssistantMessage = Extract<ModelMessage, { readonly role: 'assistant' }>;

/** What is to be stored, in order. */
export type Record =
  | { readonly kind: 'message'; readonly message: AssistantMessage; readonly calls: readonly SealedCall[] }
  | { readonly kind: 'result'; readonly result: SettledCall };

interface Call {
  readonly callId: string;
  name: string;
  input: unknown;
  effect: ToolEffect;
  output: string;
  stored: boolean;
  settled: boolean;
}

type Piece = TextPart | ThoughtPart | Call;

/** What each kind of tool of an agent can do to the world, as far as it says so. */
export const EFFECTS: Readonly<globalThis.Record<ToolKind, ToolEffect>> = {
  read: 'read',
  search: 'read',
  think: 'read',
  edit: 'write',
  delete: 'write',
  move: 'write',
  execute: 'execute',
  fetch: 'execute',
  switch_mode: 'execute',
  other: 'execute',
};

export class Transcript {
  readonly #calls = new Map<string, Call>();
  #open: Piece[] = [];
  #spoke = false;

  /** `prefix` makes the agent's own call ids unique in the session (K16). */
  constructor(private readonly prefix: string) {}

  /** Whether the agent has said or done anything. */
  get spoke(): boolean {
    return this.#spoke;
  }

  /** Takes an update of the agent's session; gives what is complete with it. */
  apply(update: SessionUpdate): readonly Record[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return update.content.type === 'text' ? this.#say('text', update.content.text) : [];
      case 'agent_thought_chunk':
        return update.content.type === 'text' ? this.#say('thought', update.content.text) : [];
      case 'tool_call':
      case 'tool_call_update':
        return this.#call(update);
      default:
        return [];
    }
  }

  /** Gives what the agent has said and nothing has closed yet. */
  close(): readonly Record[] {
    const pieces = this.#open;
    this.#open = [];
    if (pieces.length === 0) return [];
    const calls = pieces.filter((piece) => 'callId' in piece);
    for (const call of calls) call.stored = true;
    const parts = pieces.map((piece) => ('callId' in piece ? toPart(piece) : { ...piece, text: canonicalText(piece.text) }));
    return [{ kind: 'message', message: { role: 'assistant', parts }, calls: calls.map(toSealed) }];
  }

  #say(type: 'text' | 'thought', text: string): readonly Record[] {
    if (text === '') return [];
    this.#spoke = true;
    const closed = this.#open.some((piece) => 'callId' in piece) ? this.close() : [];
    const last = this.#open.at(-1);
    if (last && 'type' in last && last.type === type) this.#open[this.#open.length - 1] = { type, text: last.text + text };
    else this.#open.push({ type, text });
    return closed;
  }

  #call(update: ToolCallUpdate): readonly Record[] {
    const call = this.#calls.get(update.toolCallId) ?? this.#begin(update.toolCallId);
    merge(call, update);
    const { status } = update;
    if (status === undefined || status === null || status === 'pending' || call.settled) return [];
    const closed = call.stored ? [] : this.close();
    if (status === 'in_progress') return closed;
    call.settled = true;
    const isError = status === 'failed';
    const { callId, name, output: text } = call;
    return [
      ...closed,
      { kind: 'result', result: { callId, name, status: isError ? 'failed' : 'succeeded', text, isError, endsTurn: false } },
    ];
  }

  #begin(id: string): Call {
    this.#spoke = true;
    const call: Call = {
      callId: `${this.prefix}.${id}`.slice(0, LIMITS.key_characters.default),
      name: 'tool',
      input: {},
      effect: 'execute',
      output: '',
      stored: false,
      settled: false,
    };
    this.#calls.set(id, call);
    this.#open.push(call);
    return call;
  }
}

/** Later reports complete earlier ones; output is always the whole of it. */
function merge(call: Call, { name, title, kind, rawInput, content, rawOutput }: ToolCallUpdate): void {
  const named = name ?? title;
  if (named) call.name = canonicalText(named).slice(0, LIMITS.name_characters.default);
  if (kind) call.effect = EFFECTS[kind];
  if (rawInput !== undefined) call.input = rawInput;
  const output = content?.length ? textOf(content) : rawOutput === undefined ? '' : JSON.stringify(rawOutput);
  if (output !== '') call.output = output.slice(0, LIMITS.tool_output_bytes.default);
}

function textOf(content: readonly ToolCallContent[]): string {
  return content
    .map((part) => {
      if (part.type === 'diff') return `${part.path}: changed`;
      return part.type === 'content' && part.content.type === 'text' ? part.content.text : `(${part.type})`;
    })
    .join('\n');
}

function toPart({ callId, name, input }: Call): ToolCallPart {
  return { type: 'tool_call', call_id: callId, name, arguments: canonicalText(JSON.stringify(input ?? {})) };
}

function toSealed(call: Call): SealedCall {
  const { call_id: callId, name, arguments: args } = toPart(call);
  return { callId, name, arguments: args, effect: call.effect };
}
