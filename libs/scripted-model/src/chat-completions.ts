/** The OpenAI chat-completions dialect, which most compatible servers and local engines speak. */
import { z } from 'zod';
import { frame, type CompleteResponse, type Dialect, type Frame, type ParsedRequest } from './dialect.js';
import type { ScriptedMessage } from './script.js';

const content = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish();
const requestBody = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(
    z.looseObject({
      role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
      content,
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) }))
        .nullish(),
    }),
  ),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
});
type Body = z.output<typeof requestBody>;

export const chatCompletions: Dialect = {
  name: 'chat_completions',
  path: '/chat/completions',
  parse,
  frames,
  document,
  errorFrame: (message) => frame('close', { error: { message, type: 'server_error', code: 'scripted' } }).data,
  errorDocument: (status, message) => ({ error: { message, type: 'scripted_error', param: null, code: String(status) } }),
};

function parse(body: unknown): ParsedRequest {
  const request = requestBody.parse(body);
  const instructions = request.messages.filter(isInstruction);
  return {
    dialect: 'chat_completions',
    model: request.model,
    stream: request.stream ?? false,
    system: instructions.map((message) => textOf(message.content)).join('\n'),
    messages: request.messages.filter((message) => !isInstruction(message)).map(toMessage),
    tools: (request.tools ?? []).map((tool) => tool.function.name),
  };
}

function isInstruction(message: Body['messages'][number]): boolean {
  return message.role === 'system' || message.role === 'developer';
}

function toMessage(message: Body['messages'][number]): ScriptedMessage {
  const text = textOf(message.content);
  if (message.role === 'tool') {
    return { role: 'tool', text: '', toolCalls: [], toolResults: [{ id: message.tool_call_id ?? '', text }] };
  }
  return {
    role: message.role === 'assistant' ? 'assistant' : 'user',
    text,
    toolCalls: (message.tool_calls ?? []).map((call) => ({ id: call.id, ...call.function })),
    toolResults: [],
  };
}

function textOf(value: z.output<typeof content>): string {
  if (typeof value === 'string') return value;
  return (value ?? []).map((part) => part.text ?? '').join('');
}

function frames(response: CompleteResponse): Frame[] {
  const chunk = (phase: Frame['phase'], delta: object, finish: string | null = null) =>
    frame(phase, { ...head(response, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finish }] });
  const calls = response.toolCalls.flatMap((call, index) => [
    chunk('open', { tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }),
    ...call.pieces.map((piece) => chunk('output', { tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  return [
    chunk('open', { role: 'assistant', content: '' }),
    ...response.thought.map((text) => chunk('output', { reasoning_content: text })),
    ...response.text.map((text) => chunk('output', { content: text })),
    ...calls,
    chunk('finish', {}, finishReason(response)),
    ...(response.usage === null
      ? []
      : [frame('close', { ...head(response, 'chat.completion.chunk'), choices: [], usage: usage(response) })]),
    { phase: 'close', data: 'data: [DONE]\n\n' },
  ];
}

function document(response: CompleteResponse): unknown {
  const message = {
    role: 'assistant',
    content: response.text.length === 0 ? null : response.text.join(''),
    ...(response.thought.length === 0 ? {} : { reasoning_content: response.thought.join('') }),
    ...(response.toolCalls.length === 0 ? {} : { tool_calls: response.toolCalls.map(toCall) }),
  };
  return {
    ...head(response, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishReason(response) }],
    ...(response.usage === null ? {} : { usage: usage(response) }),
  };
}

function toCall(call: CompleteResponse['toolCalls'][number]) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}

function head(response: CompleteResponse, object: string) {
  return { id: `chatcmpl-${response.id}`, object, created: 0, model: response.model };
}

function finishReason(response: CompleteResponse): string {
  return typeof response.finish === 'string' ? response.finish : response.finish.raw;
}

function usage({ usage: tokens }: CompleteResponse) {
  if (tokens === null) return null;
  return {
    prompt_tokens: tokens.inputTokens,
    completion_tokens: tokens.outputTokens,
    total_tokens: tokens.inputTokens + tokens.outputTokens,
    prompt_tokens_details: { cached_tokens: tokens.cachedInputTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: tokens.reasoningTokens ?? 0 },
  };
}
