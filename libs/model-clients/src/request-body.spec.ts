/** What each dialect sends: bodies as the scripted model received them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ModelEvent, ModelMessage, ModelRequest } from '@echelon/agent-loop';
import { startScriptedModel, type ScriptedModel, type ScriptedResponse } from '@echelon/scripted-model';
import { createModelClient, type ModelDialect } from './index.js';

const TOOL = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false };
const HISTORY: readonly ModelMessage[] = [
  { role: 'user', parts: [{ type: 'text', text: 'go' }] },
  {
    role: 'assistant',
    parts: [
      { type: 'text', text: '' },
      { type: 'text', text: 'reading' },
      { type: 'tool_call', call_id: 'c1', name: 'read', arguments: '{ "path": "1" }' },
      { type: 'tool_call', call_id: 'c2', name: 'read', arguments: '{"path":' },
    ],
  },
  {
    role: 'tool',
    parts: [
      { type: 'tool_result', call_id: 'c1', name: 'read', text: 'one', is_error: false },
      { type: 'tool_result', call_id: 'c2', name: 'read', text: 'cut off', is_error: true },
    ],
  },
  { role: 'user', parts: [{ type: 'text', text: 'a lead' }] },
];

let server: ScriptedModel;
let response: ScriptedResponse;

beforeAll(async () => {
  server = await startScriptedModel({ script: () => response });
});
beforeEach(() => {
  response = { text: 'ok' };
});
afterAll(() => server.close());

async function send(dialect: ModelDialect, request: Partial<ModelRequest> = {}): Promise<{ body: Body; events: ModelEvent[] }> {
  const client = createModelClient({ dialect, baseUrl: server.url, apiKey: 'key' });
  const tools = [{ name: 'read', description: 'Reads.', parameters: TOOL }];
  const events: ModelEvent[] = [];
  const full = { model: 'scripted', system: 'rules', messages: HISTORY, tools, ...request };
  for await (const event of client.stream(full, { signal: new AbortController().signal })) events.push(event);
  return { body: server.requests.at(-1)?.body as Body, events };
}
type Body = Readonly<Record<string, unknown>>;

describe('chat_completions', () => {
  test('system, roles, paired results and raw arguments', async () => {
    const { body } = await send('chat_completions');
    expect(body).toEqual({
      model: 'scripted',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'rules' },
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: 'reading',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read', arguments: '{ "path": "1" }' } },
            { id: 'c2', type: 'function', function: { name: 'read', arguments: JSON.stringify('{"path":') } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: 'cut off' },
        { role: 'user', content: 'a lead' },
      ],
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads.', parameters: TOOL } }],
    });
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer key');
  });

  test('no system prompt, no tools and an output limit', async () => {
    const { body } = await send('chat_completions', { system: '', tools: [], maxOutputTokens: 5 });
    expect(body).toMatchObject({ max_tokens: 5, messages: [{ role: 'user' }, {}, {}, {}, {}] });
    expect(body).not.toHaveProperty('tools');
  });

  test('a thought goes back as reasoning', async () => {
    const messages: ModelMessage[] = [
      ...HISTORY,
      {
        role: 'assistant',
        parts: [
          { type: 'thought', text: 'hm' },
          { type: 'text', text: 'x' },
        ],
      },
    ];
    const { body } = await send('chat_completions', { messages });
    expect(body).toMatchObject({ messages: expect.arrayContaining([{ role: 'assistant', content: 'x', reasoning_content: 'hm' }]) });
  });
});

describe('anthropic_messages', () => {
  const cache_control = { type: 'ephemeral' };

  test('system, roles, paired results, cache markers and wrapped broken arguments', async () => {
    const { body } = await send('anthropic_messages');
    expect(body).toMatchObject({
      model: 'scripted',
      stream: true,
      max_tokens: 32_000,
      system: [{ type: 'text', text: 'rules', cache_control }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'reading' },
            { type: 'tool_use', id: 'c1', name: 'read', input: { path: '1' } },
            { type: 'tool_use', id: 'c2', name: 'read', input: { rawInvalidInput: '{"path":' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
            { type: 'tool_result', tool_use_id: 'c2', content: 'cut off', is_error: true },
            { type: 'text', text: 'a lead', cache_control },
          ],
        },
      ],
      tools: [{ name: 'read', description: 'Reads.', input_schema: TOOL }],
    });
    expect(server.requests.at(-1)?.headers).toMatchObject({ 'x-api-key': 'key' });
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(2);
  });

  test('an output limit is sent as it is', async () => {
    expect((await send('anthropic_messages', { maxOutputTokens: 7 })).body).toMatchObject({ max_tokens: 7 });
  });

  test('a thought goes back with its signature', async () => {
    response = { thought: ['thin', 'king'], thoughtSignature: 'signed', text: 'x' };
    const { events } = await send('anthropic_messages');
    const { body } = await send('anthropic_messages', { messages: [...HISTORY, assemble(events), ...HISTORY.slice(0, 1)] });
    const thinking = { type: 'thinking', thinking: 'thinking', signature: 'signed' };
    expect(body).toMatchObject({ messages: [{}, {}, {}, { role: 'assistant', content: [thinking, { type: 'text', text: 'x' }] }, {}] });
  });
});

describe('openai_responses', () => {
  test('system, roles, paired results and raw arguments, and nothing is stored', async () => {
    const { body } = await send('openai_responses');
    expect(body).toMatchObject({
      model: 'scripted',
      stream: true,
      store: false,
      input: [
        { role: 'system', content: 'rules' },
        { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        { role: 'assistant', content: 'reading' },
        { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{ "path": "1" }' },
        { type: 'function_call', call_id: 'c2', name: 'read', arguments: JSON.stringify('{"path":') },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        { type: 'function_call_output', call_id: 'c2', output: 'cut off' },
        { role: 'user', content: [{ type: 'input_text', text: 'a lead' }] },
      ],
      tools: [{ type: 'function', name: 'read', description: 'Reads.', parameters: TOOL, strict: false }],
    });
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer key');
  });

  test('encrypted reasoning is asked for and goes back with its item id', async () => {
    response = { thought: ['thin', 'king'], thoughtSignature: 'sealed', toolCalls: [{ id: 'c9', name: 'read', arguments: { path: '9' } }] };
    const { body: first, events } = await send('openai_responses', { model: 'gpt-5', maxOutputTokens: 9 });
    expect(first).toMatchObject({
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 9,
      input: [{ role: 'developer' }, {}, {}, {}, {}, {}, {}, {}],
    });
    const { body } = await send('openai_responses', { model: 'gpt-5', messages: [...HISTORY.slice(0, 1), assemble(events)] });
    expect(body).toMatchObject({
      input: [
        {},
        {},
        {
          type: 'reasoning',
          id: expect.stringMatching(/^rs_/),
          encrypted_content: 'sealed',
          summary: [{ type: 'summary_text', text: 'thinking' }],
        },
        { type: 'function_call', call_id: 'c9' },
      ],
    });
  });
});

/** Joins events as the loop does: provider data ends its part. */
function assemble(events: readonly ModelEvent[]): ModelMessage {
  const parts: Extract<ModelMessage, { role: 'assistant' }>['parts'][number][] = [];
  let text = '';
  for (const event of events) {
    if (event.type === 'thought') {
      text += event.text;
      if (event.providerData !== undefined) parts.push({ type: 'thought', text, provider_data: storedAsJson(event.providerData) });
    }
    if (event.type === 'content' && event.text !== '') parts.push({ type: 'text', text: event.text });
    if (event.type !== 'tool_call') continue;
    const { callId, name, arguments: raw, providerData } = event.call;
    parts.push({
      type: 'tool_call',
      call_id: callId,
      name,
      arguments: raw,
      ...(providerData ? { provider_data: storedAsJson(providerData) } : {}),
    });
  }
  return { role: 'assistant', parts };
}

function storedAsJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
