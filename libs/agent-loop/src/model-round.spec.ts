import { describe, expect, test } from '@jest/globals';
import type { ModelFailure } from './model-port.js';
import { MemoryJournal } from './testing/memory-journal.js';
import { ManualClock } from './testing/manual-clock.js';
import { outline, play } from './testing/run.js';
import { call, calls, failure, finish, says, scriptedClient, text, type Script } from './testing/scripted-client.js';

const retries = { skipUpTo: 30_000 };

describe('before the first output', () => {
  test.each([408, 429, 502, 503, 504, 529])('status %i is retried, then answered [G4.6][G8.15]', async (status) => {
    const clock = new ManualClock(retries);
    const run = await play([[failure({ status })], [failure({ status })], says('ok')], { clock });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(clock.waits).toEqual(expect.arrayContaining([500, 1_000]));
  });

  test.each([400, 401, 500])('status %i is final: one request [G4.6][G8.40]', async (status) => {
    const run = await play([[failure({ status, retryable: true })]]);
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'model_request', failure: { status } });
    expect(run.client.requests).toHaveLength(1);
  });

  test.each([
    ['a lost connection', [failure({ kind: 'connection' })]],
    ['a stream that ends with nothing', [{ type: 'close' }]],
  ] as [string, Script][])('%s is retried three times in all [G4.6][G8.12]', async (_name, down) => {
    const run = await play([down, down, down]);
    expect(run.client.requests).toHaveLength(3);
    expect(run.stop).toMatchObject({ reason: 'error' });
    expect(run.history).toHaveLength(1);
  });

  test('the delay doubles from one second with jitter up to its cap [G4.6]', async () => {
    const clock = new ManualClock({ ...retries, random: 0.5 });
    const down = [failure({ status: 503 })];
    await play([down, down, down, down, down, down, down], { clock, retry: { ...policy, tries: 7 } });
    expect(clock.waits).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500]);
  });

  test('Retry-After is a minimum [G4.7][G8.17]', async () => {
    const clock = new ManualClock(retries);
    await play([[failure({ status: 429, retryAfterMs: 7_000 })], says('ok')], { clock });
    expect(clock.waits).toContain(7_000);
  });

  test('a Retry-After past 30 s parks the turn instead of holding a worker [G4.7]', async () => {
    const run = await play([[failure({ status: 429, retryAfterMs: 60_000 })]]);
    expect(run.stop).toEqual({ reason: 'parked', for: [{ kind: 'retry', milliseconds: 60_000 }] });
  });

  test('after three tries the next model is asked, and it stays for the turn [G4.9][G8.16][O30]', async () => {
    const down = scriptedClient(() => [failure({ status: 503 })]);
    const up = scriptedClient([calls(call('c1', 'read')), says('ok')]);
    const models = [
      { client: down, model: 'm1' },
      { client: up, model: 'm2' },
    ];
    const run = await play(down, { models });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect([down.requests.length, up.requests.length]).toEqual([3, 2]);
    expect(run.events).toContainEqual({ type: 'model_fallback', from: 'm1', to: 'm2' });
    expect(run.lastResponse?.model).toBe('m2');
  });

  test('at most three fallbacks are asked; then the outcome is an error that says what failed [G4.9][O30]', async () => {
    const clients = Array.from({ length: 6 }, () => scriptedClient(() => [failure({ status: 503 })]));
    const run = await play(clients[0] ?? [], { models: clients.map((client, at) => ({ client, model: `m${at}` })) });
    expect(clients.map((client) => client.requests.length)).toEqual([3, 3, 3, 3, 0, 0]);
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'model_request' });
  });

  test('every try is prepared by a barrier of its own [G4.10][G7.1]', async () => {
    const journal = new MemoryJournal();
    await play([[failure({ status: 503 })], says('ok')], { journal });
    expect(journal.requests.map(({ round, attempt }) => [round, attempt])).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });
});

describe('after the first output', () => {
  test.each([
    ['text', text('par')],
    ['a call chunk', call('c1', 'write')],
  ])('a drop after %s is retried once and nothing of it stays [G4.2][G4.11][G8.13][G8.14]', async (_name, event) => {
    const run = await play([[event, { type: 'close' }], says('whole')]);
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(outline(run.history)).toEqual(['user: go', 'assistant: whole']);
    expect(run.context.started).toEqual([]);
    expect(run.events.map((seen) => seen.type)).toEqual([event.type, 'attempt_abandoned', 'retry', 'content', 'finished']);
  });

  test('a second drop keeps the partial text and stops; calls never run [G4.11]', async () => {
    const dropped: Script = [text('par'), call('c1', 'write'), failure({ kind: 'connection', message: 'reset' })];
    const run = await play([dropped, dropped]);
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'stream_interrupted', message: 'reset' });
    expect(run.lastResponse).toMatchObject({ text: 'par', complete: false, calls: [] });
    expect(run.unrecorded.response?.message).toEqual({ role: 'assistant', parts: [{ type: 'text', text: 'par' }] });
    expect(outline(run.history)).toEqual(['user: go']);
    expect(run.context.started).toEqual([]);
  });

  test('no other model is asked once something was emitted [G4.9][G4.11]', async () => {
    const client = scriptedClient([[text('par'), { type: 'close' }], ...Array.from({ length: 3 }, () => [failure({ status: 503 })])]);
    const other = scriptedClient([]);
    const models = [
      { client, model: 'm1' },
      { client: other, model: 'm2' },
    ];
    const run = await play(client, { models });
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'model_request' });
    expect(other.requests).toEqual([]);
  });

  test('an error event fails the round even if a finish follows it', async () => {
    const broken: Script = [text('par'), failure({ kind: 'protocol', message: 'overloaded' }), finish('stop')];
    const run = await play([broken, broken]);
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'stream_interrupted' });
  });

  test('an error after the finish does not take the response back', async () => {
    const run = await play([[text('whole'), finish('stop'), failure({ kind: 'connection' })]]);
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('120 s without an event fail the request; events in between start the wait again [G4.12]', async () => {
    const clock = new ManualClock(retries);
    const silent: Script = [
      text('a'),
      { type: 'do', run: () => clock.advance(119_000) },
      text('b'),
      { type: 'do', run: () => clock.advance(119_000) },
      text('c'),
      { type: 'do', run: async () => void queueMicrotask(() => advanceTwice(clock)) },
      { type: 'hang' },
    ];
    const run = await play([silent, says('ok')], { clock });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(run.events).toContainEqual(expect.objectContaining({ type: 'retry', cause: 'stream_interrupted' }));
  });
});

describe('cancel', () => {
  test('a cancel during the stream keeps the partial text and starts nothing [G2.1][G8.9]', async () => {
    const stop = new AbortController();
    const script: Script = [text('par'), call('c1', 'write'), { type: 'do', run: () => stop.abort() }, finish('tool_calls')];
    const run = await play([script], { signal: stop.signal });
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'signal' });
    expect(run.lastResponse).toMatchObject({ text: 'par', complete: false });
    expect(run.context.started).toEqual([]);
  });

  test('a cancel of a merged-in signal ends the round as if no calls were made [G4.3]', async () => {
    const goal = new AbortController();
    const script: Script = [text('par'), call('c1', 'write'), { type: 'do', run: () => goal.abort() }, { type: 'hang' }];
    const run = await play([script], { roundSignal: goal.signal });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(outline(run.history)).toEqual(['user: go', 'assistant: par']);
    expect(run.context.started).toEqual([]);
  });

  test('a cancel while waiting for the next try sends nothing more', async () => {
    const stop = new AbortController();
    const clock = new ManualClock();
    const down: Script = [{ type: 'do', run: () => setImmediate(() => stop.abort()) }, failure({ status: 503 })];
    const run = await play([down], { signal: stop.signal, clock });
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'signal' });
    expect(run.client.requests).toHaveLength(1);
  });

  test('a client that ignores its signal does not hold the loop', async () => {
    const stop = new AbortController();
    const client = {
      requests: [],
      async *stream() {
        yield text('par');
        setImmediate(() => stop.abort());
        await new Promise(() => undefined);
      },
    };
    const run = await play(client, { signal: stop.signal });
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'signal' });
  });

  test('a hand-over cuts the stream and leaves an abandoned attempt [G7.5]', async () => {
    const handOver = new AbortController();
    const script: Script = [text('par'), { type: 'do', run: () => handOver.abort() }, { type: 'hang' }];
    const run = await play([script], { handOver: handOver.signal });
    expect(run.stop).toEqual({ reason: 'handed_over' });
    expect(run.lastResponse).toBeNull();
    expect(run.unrecorded.response).toBeNull();
    expect(run.events.at(-1)).toEqual({ type: 'attempt_abandoned' });
  });
});

describe('surfaces', () => {
  test.each([
    [false, ['tool_call', 'finished', 'content', 'finished']],
    [true, ['tool_call_preparation', 'tool_call', 'finished', 'content', 'finished']],
  ])('preparations are forwarded on request: %s [G2.11]', async (preparations, types) => {
    const script: Script = [{ type: 'tool_call_preparation', callId: 'c1', name: 'read' }, ...calls(call('c1', 'read'))];
    const run = await play([script, says('ok')], { preparations });
    expect(run.events.map((event) => event.type).filter((type) => !type.startsWith('tool_s'))).toEqual(types);
  });

  test('a client that throws is a failed request, not a crash', async () => {
    const run = await play(scriptedClient([]));
    expect(run.stop).toMatchObject({
      reason: 'error',
      kind: 'model_request',
      failure: { kind: 'protocol' } satisfies Partial<ModelFailure>,
    });
  });
});

const policy = { tries: 3, baseMs: 1_000, capMs: 30_000, parkAfterMs: 30_000, idleMs: 120_000 };

/** The first step wakes the watchdog, which then sleeps for what is left of the silence. */
function advanceTwice(clock: ManualClock): void {
  clock.advance(119_000);
  setImmediate(() => clock.advance(2_000));
}
