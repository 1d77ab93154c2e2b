/** The OpenAI responses dialect. */
import { z } from 'zod';
import { namedFrame, type CompleteResponse, type Dialect, type Frame, type ParsedRequest } from './dialect.js';
import type { ScriptedMessage } from './script.js';

const content = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]);
const item = z.looseObject({
  type: z.string().optional(),
  role: z.enum(['system', 'developer', 'user', 'assistant']).optional(),
  content: content.nullish(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.string().optional(),
  output: content.optional(),
});
type Item = z.output<typeof item>;
const requestBody = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  instructions: z.string().nullish(),
  input: z.union([z.string(), z.array(item)]),
  tools: z.array(z.looseObject({ name: z.string().optional() })).optional(),
});

export const openaiResponses: Dialect = {
  name: 'openai_responses',
  path: '/responses',
  parse,
  frames,
  document,
  errorFrame: (message) => namedFrame('close', { type: 'error', sequence_number: 0, code: 'server_error', message, param: null }).data,
  errorDocument: (status, message) => ({ error: { message, type: 'scripted_error', param: null, code: String(status) } }),
};

function parse(body: unknown): ParsedRequest {
  const request = requestBody.parse(body);
  const items: readonly Item[] = typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : request.input;
  const instructions = items.filter(isInstruction).map((entry) => textOf(entry.content));
  return {
    dialect: 'openai_responses',
    model: request.model,
    stream: request.stream ?? false,
    system: [...(request.instructions == null ? [] : [request.instructions]), ...instructions].join('\n'),
    messages: toMessages(items.filter((entry) => !isInstruction(entry))),
    tools: (request.tools ?? []).flatMap((tool) => tool.name ?? []),
  };
}

function isInstruction(entry: Item): boolean {
  return entry.role === 'system' || entry.role === 'developer';
}

/** Neighbouring items of the assistant (reasoning, message, calls) are one message. */
function toMessages(items: readonly Item[]): ScriptedMessage[] {
  const messages: ScriptedMessage[] = [];
  for (const entry of items) {
    const message = toMessage(entry);
    const last = messages.at(-1);
    if (message.role === 'assistant' && last?.role === 'assistant') messages[messages.length - 1] = join(last, message);
    else messages.push(message);
  }
  return messages;
}

function toMessage(entry: Item): ScriptedMessage {
  if (entry.type === 'function_call_output') {
    return { role: 'tool', text: '', toolCalls: [], toolResults: [{ id: entry.call_id ?? '', text: textOf(entry.output) }] };
  }
  if (entry.type === 'function_call') {
    const call = { id: entry.call_id ?? '', name: entry.name ?? '', arguments: entry.arguments ?? '' };
    return { role: 'assistant', text: '', toolCalls: [call], toolResults: [] };
  }
  if (entry.type === 'reasoning') return { role: 'assistant', text: '', toolCalls: [], toolResults: [] };
  return { role: entry.role === 'assistant' ? 'assistant' : 'user', text: textOf(entry.content), toolCalls: [], toolResults: [] };
}

function join(left: ScriptedMessage, right: ScriptedMessage): ScriptedMessage {
  return { ...left, text: left.text + right.text, toolCalls: [...left.toolCalls, ...right.toolCalls] };
}

function textOf(value: z.output<typeof content> | null | undefined): string {
  if (typeof value === 'string') return value;
  return (value ?? []).map((part) => part.text ?? '').join('');
}

function frames(response: CompleteResponse): Frame[] {
  const streamed = [...reasoningItem(response), ...messageItem(response), ...callItems(response)];
  const opening = { ...head(response), status: 'in_progress', output: [] };
  const events: { phase: Frame['phase']; event: { type: string } & Record<string, unknown> }[] = [
    { phase: 'open', event: { type: 'response.created', response: opening } },
    { phase: 'open', event: { type: 'response.in_progress', response: opening } },
    ...streamed.flatMap(itemEvents),
    {
      phase: 'finish',
      event: { type: isIncomplete(response) ? 'response.incomplete' : 'response.completed', response: document(response) },
    },
  ];
  return events.map(({ phase, event }, sequence) => namedFrame(phase, { ...event, sequence_number: sequence }));
}

/** An output item: how it starts and ends, and what is streamed in between. */
interface StreamedItem {
  readonly start: Readonly<Record<string, unknown>>;
  readonly done: Readonly<Record<string, unknown>>;
  readonly before: readonly Event[];
  readonly deltas: readonly Event[];
  readonly after: readonly Event[];
}
type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

function itemEvents({ start, done, before, deltas, after }: StreamedItem, output_index: number) {
  const place = (phase: Frame['phase'], event: Event) => ({ phase, event: { ...event, output_index } });
  return [
    place('open', { type: 'response.output_item.added', item: start }),
    ...before.map((event) => place('open', event)),
    ...deltas.map((event) => place('output', event)),
    ...after.map((event) => place('open', event)),
    place('open', { type: 'response.output_item.done', item: done }),
  ];
}

function reasoningItem({ id, thought, thoughtSignature }: CompleteResponse): StreamedItem[] {
  if (thought.length === 0) return [];
  const item_id = `rs_${id}`;
  const at = { item_id, summary_index: 0 };
  const item = { id: item_id, type: 'reasoning', encrypted_content: thoughtSignature };
  const part = { type: 'summary_text', text: thought.join('') };
  return [
    {
      start: { ...item, summary: [] },
      done: { ...item, summary: [part] },
      before: [{ type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } }],
      deltas: thought.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
      after: [{ type: 'response.reasoning_summary_part.done', ...at, part }],
    },
  ];
}

function messageItem({ id, text }: CompleteResponse): StreamedItem[] {
  if (text.length === 0) return [];
  const item_id = `msg_${id}`;
  const at = { item_id, content_index: 0 };
  const item = { id: item_id, type: 'message', role: 'assistant' };
  const part = { type: 'output_text', text: text.join(''), annotations: [] };
  return [
    {
      start: { ...item, status: 'in_progress', content: [] },
      done: { ...item, status: 'completed', content: [part] },
      before: [{ type: 'response.content_part.added', ...at, part: { ...part, text: '' } }],
      deltas: text.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      after: [{ type: 'response.content_part.done', ...at, part }],
    },
  ];
}

function callItems({ id, toolCalls }: CompleteResponse): StreamedItem[] {
  return toolCalls.map((call, number) => {
    const item_id = `fc_${id}_${number}`;
    const item = { id: item_id, type: 'function_call', call_id: call.id, name: call.name };
    return {
      start: { ...item, status: 'in_progress', arguments: '' },
      done: { ...item, status: 'completed', arguments: call.arguments },
      before: [],
      deltas: call.pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', item_id, delta })),
      after: [{ type: 'response.function_call_arguments.done', item_id, arguments: call.arguments }],
    };
  });
}

function document(response: CompleteResponse) {
  const items = [...reasoningItem(response), ...messageItem(response), ...callItems(response)];
  return {
    ...head(response),
    status: isIncomplete(response) ? 'incomplete' : 'completed',
    incomplete_details: incompleteReason(response),
    output: items.map(({ done }) => done),
    ...(response.usage === null ? {} : { usage: usage(response) }),
  };
}

function head(response: CompleteResponse) {
  return { id: `resp_${response.id}`, object: 'response', created_at: 0, model: response.model };
}

function isIncomplete(response: CompleteResponse): boolean {
  return incompleteReason(response) !== null;
}

/** This dialect names a reason only for a response that is not complete. */
function incompleteReason({ finish }: CompleteResponse): { reason: string } | null {
  if (typeof finish !== 'string') return { reason: finish.raw };
  if (finish === 'length') return { reason: 'max_output_tokens' };
  return finish === 'content_filter' ? { reason: 'content_filter' } : null;
}

function usage({ usage: tokens }: CompleteResponse) {
  if (tokens === null) return null;
  return {
    input_tokens: tokens.inputTokens,
    input_tokens_details: { cached_tokens: tokens.cachedInputTokens ?? 0 },
    output_tokens: tokens.outputTokens,
    output_tokens_details: { reasoning_tokens: tokens.reasoningTokens ?? 0 },
    total_tokens: tokens.inputTokens + tokens.outputTokens,
  };
}
