import { afterEach, expect, test } from '@jest/globals';
import type { ModelEvent } from '@echelon/agent-loop';
import { startScriptedModel, type ScriptedModel, type ScriptedResponse } from '@echelon/scripted-model';
import { createModelClient, type ModelDialect } from './index.js';

let server: ScriptedModel | null = null;

afterEach(async () => {
  await server?.close();
  server = null;
});

async function run(dialect: ModelDialect, response: ScriptedResponse): Promise<ModelEvent[]> {
  server = await startScriptedModel({ script: () => response });
  const client = createModelClient({ dialect, baseUrl: server.url });
  const request = { model: 'scripted', system: '', messages: [], tools: [] };
  return collect(client.stream(request, { signal: new AbortController().signal }));
}

test('messages: a body that stays open after its last event does not hold the stream', async () => {
  const events = await run('anthropic_messages', { text: 'a', faults: [{ kind: 'open_end' }] });
  expect(events.map(({ type }) => type)).toEqual(['content', 'finished']);
  expect(await server?.requests[0]?.ended).toBe('disconnected');
});

test('a response is read to the end of its body, so that its connection can be used again', async () => {
  server = await startScriptedModel({ script: () => ({ text: 'a' }) });
  const request = { model: 'scripted', system: '', messages: [], tools: [] };
  for (const dialect of ['chat_completions', 'anthropic_messages', 'openai_responses'] as const) {
    const client = createModelClient({ dialect, baseUrl: server.url });
    await collect(client.stream(request, { signal: new AbortController().signal }));
  }
  expect(await Promise.all(server.requests.map(({ ended }) => ended))).toEqual(['completed', 'completed', 'completed']);
});

test('chat-completions: reasoning tokens are told, and unknown usage is null', async () => {
  const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 3 };
  const told = await run('chat_completions', { text: 'a', usage });
  expect(told.at(-1)).toMatchObject({ usage });
  await server?.close();
  const untold = await run('chat_completions', { text: 'a', usage: null });
  expect(untold.at(-1)).toMatchObject({ usage: { inputTokens: null, outputTokens: null, cachedInputTokens: null, reasoningTokens: null } });
});

test('chat-completions: what one chunk brings comes out as thought, content, call, finish [G3.1]', async () => {
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } };
  const delta = { tool_calls: [call], content: 'text', reasoning_content: 'thought' };
  const all = { id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] };
  const data = `data: ${JSON.stringify(all)}\n\ndata: [DONE]\n\n`;
  const events = await run('chat_completions', {
    faults: [
      { kind: 'raw', afterChunks: 0, data },
      { kind: 'end', afterChunks: 0 },
    ],
  });
  expect(events.map(({ type }) => type).filter((type) => type !== 'tool_call_preparation')).toEqual([
    'thought',
    'content',
    'tool_call',
    'finished',
  ]);
});

test('responses: a failed response is a failure', async () => {
  const failed = {
    type: 'response.failed',
    sequence_number: 1,
    response: { error: { code: 'rate_limit_exceeded', message: 'slow down' } },
  };
  const events = await run('openai_responses', {
    text: ['a', 'b'],
    faults: [{ kind: 'raw', afterChunks: 1, data: `data: ${JSON.stringify(failed)}\n\n` }],
  });
  expect(events.at(-1)).toMatchObject({ type: 'error', failure: { kind: 'http', status: 429, retryable: true, message: 'slow down' } });
});

test('messages: a provider that is overloaded before it begins is one failed request that may be retried', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const events = await run('anthropic_messages', {
    faults: [{ kind: 'raw', afterChunks: 0, data: `event: error\ndata: ${JSON.stringify(error)}\n\n` }],
  });
  expect(events).toMatchObject([{ type: 'error', failure: { kind: 'http', status: 529, retryable: true } }]);
  expect(server?.requestCount).toBe(1);
});

test('messages: a hidden thought is kept for its provider', async () => {
  const start = { type: 'content_block_start', index: 7, content_block: { type: 'redacted_thinking', data: 'hidden' } };
  const stop = { type: 'content_block_stop', index: 7 };
  const data = [start, stop].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const events = await run('anthropic_messages', { text: 'a', faults: [{ kind: 'raw', afterChunks: 1, data }] });
  expect(events).toContainEqual({ type: 'thought', text: '', providerData: { anthropic: { redactedData: 'hidden' } } });
});

test('chat-completions: calls without an index and with interleaved arguments stay apart', async () => {
  const chunk = (tool_calls: object[]) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls } }] })}\n\n`;
  const data = [
    chunk([{ index: 0, id: 'a', function: { name: 'read', arguments: '{"p' } }]),
    chunk([{ index: 1, id: 'b', function: { name: 'read', arguments: '{"p' } }]),
    chunk([{ index: 0, function: { arguments: '":1}' } }]),
    chunk([{ index: 1, function: { arguments: '":2}' } }]),
    chunk([{ id: 'c', function: { name: 'read', arguments: '{"p":3}' } }]),
  ].join('');
  const events = await run('chat_completions', { finish: 'tool_calls', faults: [{ kind: 'raw', afterChunks: 0, data }] });
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
  expect(calls).toMatchObject([
    { callId: 'a', arguments: '{"p":1}' },
    { callId: 'b', arguments: '{"p":2}' },
    { callId: 'c', arguments: '{"p":3}' },
  ]);
});

async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
