/**
 * The frames of one turn. Messages are told as they stand in the history, with the ids that calls have there: what is told of a turn
 * is what a model was told. Everything else is an event of the loop.
 */
import type { LoopEvent, LoopResult, ModelMessage, SettledCall } from '@echelon/agent-loop';
import type { AssistantContent, OutputFrame, UserContent } from './frames.js';

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;
type AssistantPart = AssistantMessage['parts'][number];

export interface TurnFramesOptions {
  readonly sessionId: string;
  readonly write: (frame: OutputFrame) => void;
  readonly partial: boolean;
}

export class TurnFrames {
  /** The history that the turn appends to. */
  private live: readonly ModelMessage[] = [];
  private readonly told = new WeakSet<ModelMessage>();
  /** Something may stand in the history that was not told. */
  private stale = true;

  constructor(private readonly options: TurnFramesOptions) {}

  /** What stands there already was told by whoever ran it. */
  begin(history: readonly ModelMessage[]): void {
    this.live = history;
    for (const message of history) this.told.add(message);
  }

  /** Tells what has joined the history since, in its order. */
  tellHistory(): void {
    this.stale = false;
    const { live, told } = this;
    let at = live.length;
    for (let last = live[at - 1]; last !== undefined && !told.has(last); last = live[at - 1]) at--;
    for (const message of live.slice(at)) this.tell(message);
  }

  onEvent(event: LoopEvent): void {
    // A summary that took the place of what was told is no message of the conversation.
    if (event.type === 'compacted' && this.live[0] !== undefined) this.told.add(this.live[0]);
    if (this.stale) this.tellHistory();
    const frame = toFrame(event);
    if (frame !== null && (frame.type !== 'stream_event' || this.options.partial)) this.options.write(frame);
    this.stale = !isLive(event);
  }

  /** Results of a batch, in the order of its calls. Returns the calls, for who wants to know what was asked. */
  tellResults(results: readonly SettledCall[]): ReadonlyMap<string, unknown> {
    this.tellHistory();
    this.stale = true;
    const calls = callsOf(this.live.at(-1));
    const order = [...calls.keys()];
    const sorted = results.toSorted((left, right) => order.indexOf(left.callId) - order.indexOf(right.callId));
    if (sorted.length > 0) this.user(sorted.map(toResultBlock));
    return calls;
  }

  /** The rest of the turn, partial text that nothing followed included. */
  end({ lastResponse }: LoopResult): void {
    this.tellHistory();
    const message = lastResponse?.complete === false ? lastResponse.message : null;
    if (message !== null && !this.told.has(message)) this.assistant(message, { incomplete: true });
  }

  private tell(message: ModelMessage): void {
    this.told.add(message);
    if (message.role === 'assistant') this.assistant(message);
    // Results are told with what became of their calls.
    if (message.role === 'user') this.user(message.parts.map(({ text }) => ({ type: 'text', text })));
  }

  private user(content: UserContent): void {
    this.options.write({ type: 'user', session_id: this.options.sessionId, message: { role: 'user', content } });
  }

  private assistant(message: AssistantMessage, mark: { readonly incomplete?: true } = {}): void {
    this.told.add(message);
    const { sessionId, write } = this.options;
    for (const content of byType(message.parts))
      write({ type: 'assistant', session_id: sessionId, message: { role: 'assistant', content }, ...mark });
  }
}

function isLive({ type }: LoopEvent): boolean {
  return type === 'content' || type === 'thought' || type === 'tool_call' || type === 'tool_output';
}

/** What is told of an event at once; model output and results come with the history. */
function toFrame(event: LoopEvent): OutputFrame | null {
  switch (event.type) {
    case 'content':
      return { type: 'stream_event', event: { type: 'text_delta', text: event.text } };
    case 'thought':
      return { type: 'stream_event', event: { type: 'thinking_delta', thinking: event.text } };
    case 'attempt_abandoned':
      return { type: 'stream_event', event: { type: 'attempt_abandoned' } };
    case 'tool_started':
      return { type: 'stream_event', event: { type: 'tool_started', tool_use_id: event.callId, tool_name: event.name } };
    case 'tool_output':
      return { type: 'stream_event', event: { type: 'tool_output', tool_use_id: event.callId, text: event.chunk } };
    case 'retry':
      return {
        type: 'system',
        subtype: 'retry',
        cause: event.cause,
        delay_ms: Math.round(event.delayMs),
        message: event.failure?.message ?? null,
      };
    case 'model_fallback':
      return { type: 'system', subtype: 'model_fallback', from: event.from, to: event.to };
    case 'compacted':
      return { type: 'system', subtype: 'compacted', tokens_before: event.tokensBefore, tokens_after: event.tokensAfter };
    case 'hook_message':
      return { type: 'system', subtype: 'hook_message', hook: event.hook, text: event.text };
    case 'stop_hook_loop':
      return { type: 'system', subtype: 'stop_hook_loop', blocks: event.blocks };
    case 'tool_call_preparation':
    case 'tool_call':
    case 'tool_settled':
    case 'finished':
    case 'error':
      return null;
  }
}

/** Parts next to each other of one type, as the content of a frame each. */
function byType(parts: readonly AssistantPart[]): readonly AssistantContent[] {
  const runs: AssistantPart[][] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    if (run?.[0]?.type === part.type) run.push(part);
    else runs.push([part]);
  }
  return runs.map((run) => run.map(toBlock) as AssistantContent);
}

function toBlock(part: AssistantPart): AssistantContent[number] {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'thought':
      return { type: 'thinking', thinking: part.text };
    case 'tool_call':
      return { type: 'tool_use', id: part.call_id, name: part.name, input: parseArguments(part.arguments) };
  }
}

function toResultBlock(result: SettledCall): Extract<UserContent[number], { type: 'tool_result' }> {
  const { callId, name, status, isError, text } = result;
  return { type: 'tool_result', tool_use_id: callId, tool_name: name, status, is_error: isError, content: text };
}

function callsOf(message: ModelMessage | undefined): ReadonlyMap<string, unknown> {
  if (message?.role !== 'assistant') return new Map();
  return new Map(message.parts.flatMap((part) => (part.type === 'tool_call' ? [[part.call_id, parseArguments(part.arguments)]] : [])));
}

/** What a model wrote that is no JSON stays text. */
function parseArguments(raw: string): unknown {
  try {
    return JSON.parse(raw === '' ? '{}' : raw);
  } catch {
    return raw;
  }
}
