import { afterEach, describe, expect, test } from '@jest/globals';
import { startScriptedModel, type AgentScript, type ScriptedModel } from './index.js';

let model: ScriptedModel | null = null;

afterEach(async () => {
  await model?.close();
  model = null;
});

async function start(script: AgentScript): Promise<ScriptedModel> {
  return (model = await startScriptedModel({ script }));
}

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${model?.url}${path}`, { method: 'POST', body: JSON.stringify(body), ...(signal ? { signal } : {}) });
}

const BODIES = {
  '/chat/completions': {
    model: 'm',
    messages: [
      { role: 'system', content: 'rules' },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"a":1}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
    ],
    tools: [{ type: 'function', function: { name: 'read' } }],
  },
  '/responses': {
    model: 'm',
    instructions: 'rules',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'reasoning', id: 'rs', summary: [] },
      { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
    ],
    tools: [{ type: 'function', name: 'read' }],
  },
  '/messages': {
    model: 'm',
    max_tokens: 10,
    system: [{ type: 'text', text: 'rules' }],
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'read', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'one' }] },
    ],
    tools: [{ name: 'read' }],
  },
};
const DIALECTS = Object.entries(BODIES);

describe('the scripted model', () => {
  test.each(DIALECTS)('%s gives a script the same view of a conversation', async (path, body) => {
    const seen: unknown[] = [];
    await start(({ dialect: _dialect, ...request }) => {
      seen.push(request);
      return { text: 'hi' };
    });
    expect((await post(path, body)).status).toBe(200);
    const none = { toolCalls: [], toolResults: [] };
    expect(seen).toMatchObject([
      {
        model: 'm',
        system: 'rules',
        index: 0,
        tools: ['read'],
        messages: [
          { role: 'user', text: 'go', ...none },
          { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name: 'read', arguments: '{"a":1}' }], toolResults: [] },
          { role: 'tool', text: '', toolCalls: [], toolResults: [{ id: 'c1', text: 'one' }] },
        ],
      },
    ]);
  });

  test.each(DIALECTS)('%s answers equal bodies with equal bytes and labels them as scripted', async (path, body) => {
    await start(() => ({ thought: 'hm', text: ['a', 'b'], toolCalls: [{ name: 'read', arguments: { a: 1 } }] }));
    const read = async (stream: boolean) => (await post(path, { ...body, stream })).text();
    expect(await read(true)).toBe(await read(true));
    expect(await read(true)).toContain('scripted:m');
    expect(JSON.parse(await read(false))).toMatchObject({ model: 'scripted:m' });
  });

  test.each(DIALECTS)('%s refuses a body of another form with 400', async (path) => {
    await start(() => ({ text: 'never' }));
    expect((await post(path, { model: 'm' })).status).toBe(400);
  });

  test('a script that throws answers with 500 and its message', async () => {
    await start(() => {
      throw new Error('no step');
    });
    const response = await post('/messages', BODIES['/messages']);
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('scripted: no step');
  });

  test('a status fault carries its headers', async () => {
    await start(() => ({ faults: [{ kind: 'status', status: 429, headers: { 'retry-after': '7' } }] }));
    const response = await post('/responses', BODIES['/responses']);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
  });

  test('a drop after bytes sends exactly that many', async () => {
    await start(() => ({ text: 'hello', faults: [{ kind: 'drop', afterBytes: 25 }] }));
    const response = await post('/chat/completions', { ...BODIES['/chat/completions'], stream: true });
    const received: Uint8Array[] = [];
    const read = async () => {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) received.push(chunk);
    };
    await expect(read()).rejects.toThrow();
    expect(Buffer.concat(received)).toHaveLength(25);
    expect(await model?.requests[0]?.ended).toBe('dropped');
  });

  test('a held response is written when its promise resolves', async () => {
    const gate = Promise.withResolvers<void>();
    await start(() => ({ text: 'late', faults: [{ kind: 'hold', until: gate.promise }] }));
    const pending = post('/chat/completions', BODIES['/chat/completions']);
    await model?.waitForRequest(1);
    gate.resolve();
    expect(await (await pending).text()).toContain('late');
    expect(await model?.requests[0]?.ended).toBe('completed');
  });

  test('a silent response ends when the client goes away', async () => {
    await start(() => ({ text: 'never', faults: [{ kind: 'silence' }] }));
    const abort = new AbortController();
    const pending = post('/chat/completions', BODIES['/chat/completions'], abort.signal);
    await model?.waitForRequest(1);
    abort.abort();
    await expect(pending).rejects.toThrow();
    expect(await model?.requests[0]?.ended).toBe('disconnected');
  });

  test('raw bytes, error events, split arguments and repeated finishes stand where the script puts them', async () => {
    await start(() => ({
      text: ['a', 'b'],
      toolCalls: [{ name: 'read', arguments: '{"x":1}', id: '', pieces: 3 }],
      faults: [
        { kind: 'raw', afterChunks: 1, data: ': raw\n\n' },
        { kind: 'error', afterChunks: 2, message: 'oops' },
        { kind: 'duplicate_finish' },
      ],
    }));
    const stream = await (await post('/chat/completions', { ...BODIES['/chat/completions'], stream: true })).text();
    expect(stream.indexOf('"a"')).toBeLessThan(stream.indexOf(': raw'));
    expect(stream.indexOf('"b"')).toBeLessThan(stream.indexOf('oops'));
    expect(stream.match(/"finish_reason":"tool_calls"/g)).toHaveLength(2);
    const pieces = ['{"x', '":1', '}'].map((piece) => stream.indexOf(`"arguments":${JSON.stringify(piece)}`));
    expect(pieces).toEqual(pieces.toSorted((left, right) => left - right));
    expect(pieces).not.toContain(-1);
  });

  test('an ended stream has neither finish nor closing event', async () => {
    await start(() => ({ text: 'a', faults: [{ kind: 'end', afterChunks: 1 }] }));
    const stream = await (await post('/chat/completions', { ...BODIES['/chat/completions'], stream: true })).text();
    expect(stream).not.toContain('[DONE]');
    expect(stream).toContain('"a"');
  });

  test('an open end keeps the body open after everything has been said', async () => {
    await start(() => ({ text: 'a', faults: [{ kind: 'open_end' }] }));
    const response = await post('/chat/completions', { ...BODIES['/chat/completions'], stream: true });
    let received = '';
    for await (const chunk of response.body ?? []) {
      received += Buffer.from(chunk).toString();
      if (received.includes('[DONE]')) break;
    }
    expect(await model?.requests[0]?.ended).toBe('disconnected');
  });

  test('it lists models, counts requests and can be told not to keep them', async () => {
    model = await startScriptedModel({ script: () => ({ text: 'x', paceMs: 1 }), record: false });
    expect(await (await fetch(`${model.url}/models`)).json()).toMatchObject({ data: [{ id: 'scripted' }, { id: 'scripted-demo' }] });
    await (await post('/messages', { ...BODIES['/messages'], stream: true })).text();
    expect([model.requestCount, model.requests.length]).toEqual([1, 0]);
  });

  test('a script given as data answers with the step that the history names', async () => {
    await start([{ text: 'first' }, { text: 'second' }]);
    expect(await (await post('/responses', { model: 'm', input: 'go' })).text()).toContain('first');
    expect(await (await post('/responses', BODIES['/responses'])).text()).toContain('second');
  });

  test('a new script holds from the next request on', async () => {
    await start(() => ({ text: 'old' }));
    model?.setScript(() => ({ text: 'new' }));
    expect(await (await post('/messages', BODIES['/messages'])).text()).toContain('new');
  });
});
