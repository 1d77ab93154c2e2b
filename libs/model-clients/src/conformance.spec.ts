/** One suite for every adapter of the model port, over real HTTP. */
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ModelEvent, ModelRequest } from '@echelon/agent-loop';
import { startScriptedModel, type ScriptedFault, type ScriptedModel, type ScriptedResponse } from '@echelon/scripted-model';
import { createModelClient, type ModelDialect, type ProviderConfig } from './index.js';

const KEY = 'key-that-must-not-leak';
const REQUEST: ModelRequest = {
  model: 'scripted',
  system: 'rules',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }],
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: { path: { type: 'string' } } } }],
};

let server: ScriptedModel | null = null;

afterEach(async () => {
  await server?.close();
  server = null;
});

const DIALECTS: readonly ModelDialect[] = ['chat_completions', 'anthropic_messages', 'openai_responses'];

describe.each(DIALECTS)('the %s adapter', (dialect) => {
  async function start(response: ScriptedResponse): Promise<ScriptedModel> {
    return (server = await startScriptedModel({ script: () => response }));
  }

  function client(config: Partial<ProviderConfig> = {}) {
    return createModelClient({ dialect, apiKey: KEY, ...(server === null ? {} : { baseUrl: server.url }), ...config });
  }

  async function collect(signal = new AbortController().signal, config: Partial<ProviderConfig> = {}): Promise<ModelEvent[]> {
    const events: ModelEvent[] = [];
    for await (const event of client(config).stream(REQUEST, { signal })) events.push(event);
    return events;
  }

  async function run(response: ScriptedResponse): Promise<ModelEvent[]> {
    await start(response);
    const events = await collect();
    expect(server?.requestCount).toBe(1);
    return events;
  }

  test('text arrives piece by piece and ends with a finish', async () => {
    const events = await run({ text: ['Hel', 'lo'] });
    expect(textOf(events, 'content')).toEqual(['Hel', 'lo']);
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'stop' });
  });

  test('a thought comes before the text', async () => {
    const events = await run({ thought: ['thin', 'king'], text: 'so' });
    expect(textOf(events, 'thought')).toEqual(['thin', 'king']);
    expect(events.findIndex(({ type }) => type === 'thought')).toBeLessThan(events.findIndex(({ type }) => type === 'content'));
  });

  test('parallel calls keep their order, ids and raw arguments', async () => {
    const events = await run({
      toolCalls: [
        { id: 'a', name: 'read', arguments: '{ "path" : "1" }' },
        { id: 'b', name: 'read', arguments: '{"path":"2"}', pieces: 4 },
      ],
    });
    expect(callsOf(events)).toEqual([
      { callId: 'a', name: 'read', arguments: '{ "path" : "1" }' },
      { callId: 'b', name: 'read', arguments: '{"path":"2"}' },
    ]);
    expect(events.filter(({ type }) => type === 'tool_call_preparation')).toEqual([
      { type: 'tool_call_preparation', callId: 'a', name: 'read' },
      { type: 'tool_call_preparation', callId: 'b', name: 'read' },
    ]);
  });

  test('arguments that were cut off by the output limit stay as they are', async () => {
    const events = await run({ toolCalls: [{ id: 'a', name: 'read', arguments: '{"path":"lor' }], finish: 'length' });
    expect(callsOf(events)).toEqual([{ callId: 'a', name: 'read', arguments: '{"path":"lor' }]);
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'output_limit' });
  });

  test('arguments that are no JSON stay as they are', async () => {
    expect(callsOf(await run({ toolCalls: [{ id: 'a', name: 'read', arguments: '{path: 1,}' }] }))[0]?.arguments).toBe('{path: 1,}');
  });

  test('repeated and empty call ids are reported as the provider wrote them', async () => {
    const events = await run({
      toolCalls: [
        { id: 'a', name: 'read', arguments: '{"path":"1"}' },
        { id: 'a', name: 'read', arguments: '{"path":"2"}' },
        { id: '', name: 'read', arguments: '{"path":"3"}' },
      ],
    });
    expect(callsOf(events).map((call) => [call.callId, call.arguments])).toEqual([
      ['a', '{"path":"1"}'],
      ['a', '{"path":"2"}'],
      ['', '{"path":"3"}'],
    ]);
  });

  test('usage counts cached tokens within the input', async () => {
    const events = await run({ text: 'x', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 64 } });
    expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 64 } });
  });

  test('a filtered response says so', async () => {
    expect((await run({ text: 'x', finish: 'content_filter' })).at(-1)).toMatchObject({ type: 'finished', reason: 'content_filtered' });
  });

  test('an unknown finish reason is kept beside its unified form', async () => {
    expect((await run({ text: 'x', finish: { raw: 'odd' } })).at(-1)).toMatchObject({
      type: 'finished',
      reason: 'other',
      rawReason: 'odd',
    });
  });

  test('of two finishes the first is the finish', async () => {
    const events = await run({ text: 'x', faults: [{ kind: 'duplicate_finish' }] });
    expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1);
  });

  test.each<[string, ScriptedFault]>([
    ['without a finish reason', { kind: 'missing_finish' }],
    ['that ends early', { kind: 'end', afterChunks: 1 }],
  ])('a stream %s just ends', async (_title, fault) => {
    const events = await run({ text: ['par', 'tial'], faults: [fault] });
    expect(events.map(({ type }) => type)).not.toContain('finished');
    expect(events.map(({ type }) => type)).not.toContain('error');
    expect(textOf(events, 'content')[0]).toBe('par');
  });

  test('a connection that breaks in mid-stream is a lost connection after the partial text', async () => {
    const events = await run({ text: ['par', 'tial'], faults: [{ kind: 'drop', afterChunks: 1 }] });
    expect(textOf(events, 'content')).toEqual(['par']);
    expect(failureOf(events)).toMatchObject({ kind: 'connection', status: null, retryable: true });
  });

  test('a connection that breaks before the response is a lost connection', async () => {
    expect(failureOf(await run({ faults: [{ kind: 'drop' }] }))).toMatchObject({ kind: 'connection', retryable: true });
  });

  test('nobody listening is a lost connection', async () => {
    await start({ text: 'x' });
    const baseUrl = server?.url ?? '';
    await server?.close();
    expect(failureOf(await collect(undefined, { baseUrl }))).toMatchObject({ kind: 'connection', retryable: true });
  });

  test.each([
    [400, false],
    [401, false],
    [408, true],
    [429, true],
    [500, false],
    [502, true],
    [503, true],
    [504, true],
    [529, true],
  ])('status %i is one failed request, retryable: %s', async (status, retryable) => {
    const events = await run({ faults: [{ kind: 'status', status }] });
    expect(events).toHaveLength(1);
    expect(failureOf(events)).toMatchObject({ kind: 'http', status, retryable, retryAfterMs: null });
    expect(failureOf(events)?.message).toContain(`scripted failure ${status}`);
  });

  test('Retry-After in seconds is given in milliseconds', async () => {
    const events = await run({ faults: [{ kind: 'status', status: 429, headers: { 'retry-after': '7' } }] });
    expect(failureOf(events)).toMatchObject({ status: 429, retryAfterMs: 7_000, retryable: true });
  });

  test('a body that is no JSON explains the failure', async () => {
    const events = await run({ faults: [{ kind: 'status', status: 500, body: 'engine is loading' }] });
    expect(failureOf(events)?.message).toContain('engine is loading');
  });

  test('a redirect is a failure and not a second request', async () => {
    const events = await run({ faults: [{ kind: 'status', status: 307, headers: { location: '/v1/models' } }] });
    expect(failureOf(events)).toMatchObject({ kind: 'http', status: 307, retryable: false });
  });

  test('an error event ends the stream although the provider goes on', async () => {
    const events = await run({ text: ['a', 'b'], faults: [{ kind: 'error', afterChunks: 1, message: 'overloaded' }] });
    expect(events.at(-1)).toMatchObject({ type: 'error' });
    expect(failureOf(events)?.message).toContain('overloaded');
    expect(textOf(events, 'content')).toEqual(['a']);
  });

  test('an event that is no JSON is a protocol failure', async () => {
    const events = await run({ text: ['a', 'b'], faults: [{ kind: 'raw', afterChunks: 1, data: 'data: {"broken\n\n' }] });
    expect(failureOf(events)).toMatchObject({ kind: 'protocol', retryable: false });
  });

  test.each<[string, ScriptedFault]>([
    ['before the response', { kind: 'silence' }],
    ['after the headers', { kind: 'silence', afterChunks: 0 }],
    ['in mid-stream', { kind: 'silence', afterChunks: 1 }],
  ])('cancelling a provider that is silent %s ends the HTTP request', async (_title, fault) => {
    await start({ text: ['a', 'b'], faults: [fault] });
    const abort = new AbortController();
    const pending = collect(abort.signal);
    await server?.waitForRequest(1);
    abort.abort();
    expect(failureOf(await pending)).toMatchObject({ kind: 'aborted', retryable: false });
    expect(await server?.requests[0]?.ended).toBe('disconnected');
  });

  test('a signal that is aborted already sends nothing', async () => {
    await start({ text: 'x' });
    expect(failureOf(await collect(AbortSignal.abort()))).toMatchObject({ kind: 'aborted' });
    expect(server?.requestCount).toBe(0);
  });

  test('a consumer that leaves ends the HTTP request', async () => {
    await start({ text: ['a', 'b'], faults: [{ kind: 'silence', afterChunks: 1 }] });
    for await (const event of client().stream(REQUEST, { signal: new AbortController().signal })) if (event.type === 'content') break;
    expect(await server?.requests[0]?.ended).toBe('disconnected');
  });

  test('a provider that does not begin to answer in time is a timeout', async () => {
    await start({ faults: [{ kind: 'silence', afterChunks: 0 }] });
    const events = await collect(undefined, { timeouts: { firstEventMs: 50 } });
    expect(failureOf(events)).toMatchObject({ kind: 'timeout', retryable: true });
  });

  test('keys and header values are not in messages', async () => {
    const body = JSON.stringify({
      type: 'error',
      error: { type: 'auth', message: `bad ${KEY} and secret-header`, code: null, param: null },
    });
    await start({ faults: [{ kind: 'status', status: 401, body }] });
    const failure = failureOf(await collect(undefined, { headers: { 'x-tenant': 'secret-header' } }));
    expect(failure?.message).toContain('bad [redacted] and [redacted]');
    expect(server?.requests[0]?.headers['x-tenant']).toBe('secret-header');
  });

  test('without a key, the vendor is not asked', async () => {
    const events: ModelEvent[] = [];
    for await (const event of createModelClient({ dialect }).stream(REQUEST, { signal: new AbortController().signal })) events.push(event);
    expect(failureOf(events)).toMatchObject({ kind: 'configuration', retryable: false });
  });

  test("a server of one's own needs no key", async () => {
    await start({ text: 'x' });
    const keyless = createModelClient({ dialect, baseUrl: server?.url ?? '' });
    const events: ModelEvent[] = [];
    for await (const event of keyless.stream(REQUEST, { signal: new AbortController().signal })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'finished' });
  });

  test('one client serves streams side by side', async () => {
    await start({ text: 'x', toolCalls: [{ id: 'a', name: 'read', arguments: {} }] });
    const shared = client();
    const one = async () => {
      const events: ModelEvent[] = [];
      for await (const event of shared.stream(REQUEST, { signal: new AbortController().signal })) events.push(event);
      return events;
    };
    const [left, right] = await Promise.all([one(), one()]);
    expect(left).toEqual(right);
  });
});

function textOf(events: readonly ModelEvent[], type: 'content' | 'thought'): string[] {
  return events.flatMap((event) => (event.type === type && event.text !== '' ? [event.text] : []));
}

function callsOf(events: readonly ModelEvent[]) {
  return events.flatMap((event) => {
    if (event.type !== 'tool_call') return [];
    const { callId, name, arguments: raw } = event.call;
    return [{ callId, name, arguments: raw }];
  });
}

function failureOf(events: readonly ModelEvent[]) {
  const last = events.at(-1);
  return last?.type === 'error' ? last.failure : undefined;
}
