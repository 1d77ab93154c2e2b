/** The Anthropic messages dialect. */
import { z } from 'zod';
import { namedFrame, type CompleteResponse, type Dialect, type Frame, type ParsedRequest } from './dialect.js';
import type { ScriptedMessage } from './script.js';

const textBlocks = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]);
const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  content: textBlocks.optional(),
});
type Block = z.output<typeof block>;
const requestBody = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  max_tokens: z.number(),
  system: textBlocks.optional(),
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.union([z.string(), z.array(block)]) })),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});

const FINISH = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'refusal' } as const;

export const anthropicMessages: Dialect = {
  name: 'anthropic_messages',
  path: '/messages',
  parse,
  frames,
  document,
  errorFrame: (message) => namedFrame('close', { type: 'error', ...scriptedError('overloaded_error', message) }).data,
  errorDocument: (_status, message) => ({ type: 'error', ...scriptedError('scripted_error', message) }),
};

function scriptedError(type: string, message: string) {
  return { error: { type, message } };
}

function parse(body: unknown): ParsedRequest {
  const request = requestBody.parse(body);
  return {
    dialect: 'anthropic_messages',
    model: request.model,
    stream: request.stream ?? false,
    system: textOf(request.system),
    messages: request.messages.flatMap(({ role, content }) => toMessages(role, content)),
    tools: (request.tools ?? []).map((tool) => tool.name),
  };
}

/** A user message with tool results is a `tool` message, followed by a user message if it also has text. */
function toMessages(role: 'user' | 'assistant', content: string | readonly Block[]): ScriptedMessage[] {
  const blocks: readonly Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const text = blocks
    .filter((part) => part.type === 'text')
    .map((part) => part.text ?? '')
    .join('');
  const toolCalls = blocks
    .filter((part) => part.type === 'tool_use')
    .map((part) => ({ id: part.id ?? '', name: part.name ?? '', arguments: JSON.stringify(part.input ?? {}) }));
  const toolResults = blocks
    .filter((part) => part.type === 'tool_result')
    .map((part) => ({ id: part.tool_use_id ?? '', text: textOf(part.content) }));
  if (role === 'assistant' || toolResults.length === 0) return [{ role, text, toolCalls, toolResults: [] }];
  const results: ScriptedMessage = { role: 'tool', text: '', toolCalls: [], toolResults };
  return text === '' ? [results] : [results, { role: 'user', text, toolCalls: [], toolResults: [] }];
}

function textOf(value: z.output<typeof textBlocks> | undefined): string {
  if (typeof value === 'string') return value;
  return (value ?? []).map((part) => part.text ?? '').join('\n');
}

function frames(response: CompleteResponse): Frame[] {
  const blocks = [...thinkingBlock(response), ...textBlock(response), ...response.toolCalls.map(toolBlock)];
  return [
    namedFrame('open', {
      type: 'message_start',
      message: { ...head(response), content: [], stop_reason: null, usage: openingUsage(response) },
    }),
    ...blocks.flatMap((start, index) => blockFrames(index, start)),
    namedFrame('finish', {
      type: 'message_delta',
      delta: { stop_reason: stopReason(response), stop_sequence: null },
      usage: { output_tokens: response.usage?.outputTokens ?? 0 },
    }),
    namedFrame('close', { type: 'message_stop' }),
  ];
}

/** A content block: how it starts, and its deltas; a signature is no output. */
interface StreamedBlock {
  readonly start: object;
  readonly deltas: readonly { readonly phase: 'open' | 'output'; readonly delta: object }[];
}

function blockFrames(index: number, { start, deltas }: StreamedBlock): Frame[] {
  return [
    namedFrame('open', { type: 'content_block_start', index, content_block: start }),
    ...deltas.map(({ phase, delta }) => namedFrame(phase, { type: 'content_block_delta', index, delta })),
    namedFrame('open', { type: 'content_block_stop', index }),
  ];
}

function thinkingBlock({ thought, thoughtSignature }: CompleteResponse): StreamedBlock[] {
  if (thought.length === 0) return [];
  const deltas = thought.map((thinking) => ({ phase: 'output', delta: { type: 'thinking_delta', thinking } }) as const);
  const signature = { phase: 'open', delta: { type: 'signature_delta', signature: thoughtSignature } } as const;
  return [{ start: { type: 'thinking', thinking: '', signature: '' }, deltas: [...deltas, signature] }];
}

function textBlock({ text }: CompleteResponse): StreamedBlock[] {
  if (text.length === 0) return [];
  return [
    { start: { type: 'text', text: '' }, deltas: text.map((piece) => ({ phase: 'output', delta: { type: 'text_delta', text: piece } })) },
  ];
}

function toolBlock({ id, name, pieces }: CompleteResponse['toolCalls'][number]): StreamedBlock {
  return {
    start: { type: 'tool_use', id, name, input: {} },
    deltas: pieces.map((piece) => ({ phase: 'output', delta: { type: 'input_json_delta', partial_json: piece } })),
  };
}

function document(response: CompleteResponse): unknown {
  const thinking = { type: 'thinking', thinking: response.thought.join(''), signature: response.thoughtSignature };
  return {
    ...head(response),
    content: [
      ...(response.thought.length === 0 ? [] : [thinking]),
      ...(response.text.length === 0 ? [] : [{ type: 'text', text: response.text.join('') }]),
      ...response.toolCalls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: parseOrEmpty(call.arguments) })),
    ],
    stop_reason: stopReason(response),
    stop_sequence: null,
    usage: { ...openingUsage(response), output_tokens: response.usage?.outputTokens ?? 0 },
  };
}

/** This dialect has no way to carry broken arguments in one document. */
function parseOrEmpty(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function head(response: CompleteResponse) {
  return { id: `msg_${response.id}`, type: 'message', role: 'assistant', model: response.model };
}

function stopReason({ finish }: CompleteResponse): string {
  return typeof finish === 'string' ? FINISH[finish] : finish.raw;
}

/** Input tokens without the cached ones, as this provider counts. */
function openingUsage({ usage }: CompleteResponse) {
  const cached = usage?.cachedInputTokens ?? 0;
  return {
    input_tokens: (usage?.inputTokens ?? 0) - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: 0,
  };
}
