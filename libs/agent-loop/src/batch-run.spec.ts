import { describe, expect, test } from '@jest/globals';
import { MemoryJournal } from './testing/memory-journal.js';
import { ManualClock } from './testing/manual-clock.js';
import { lastResults, outline, play } from './testing/run.js';
import { call, calls, says, type Script } from './testing/scripted-client.js';
import { said, tool, type TestContext } from './testing/tools.js';
import type { ToolExecution } from './tool-port.js';

const reads = (count: number): Script => calls(...Array.from({ length: count }, (_, at) => call(`c${at}`, 'read', { value: `${at}` })));

describe('the launch hook', () => {
  test('it is asked for every call that fits in flight before any of them starts [G5.13][G8.30]', async () => {
    const log: string[] = [];
    const run = await play([reads(3), says('ok')], {
      concurrency: 2,
      policies: { beforeToolLaunch: ({ callId }) => (log.push(`ask ${callId}`), true) },
      onEvent: (event) => void (event.type === 'tool_started' && log.push(`start ${event.callId}`)),
    });
    expect(log.slice(0, 4)).toEqual(['ask c0', 'ask c1', 'start c0', 'start c1']);
    expect(run.context.started).toEqual(['c0', 'c1', 'c2']);
  });

  test('a refused call is not executed and has a result [G2.8]', async () => {
    const run = await play([reads(2), says('ok')], { policies: { beforeToolLaunch: ({ callId }) => callId !== 'c0' } });
    expect(run.context.started).toEqual(['c1']);
    expect(lastResults(run.history).c0?.text).toMatch(/^Not executed/);
  });

  test('a call settled without launch is offered once, at its turn [G5.14][G8.30]', async () => {
    const offered: string[] = [];
    const batch = calls(call('c1', 'read'), call('c2', 'nope'), call('c3', 'write'));
    await play([batch, says('ok')], {
      policies: { beforeToolLaunch: ({ callId }, { settled }) => offered.push(`${callId} ${settled}`) > 0 },
    });
    expect(offered).toEqual(['c1 false', 'c2 true', 'c3 false']);
  });
});

describe('the launch budget', () => {
  test.each([
    ['in a concurrent group', reads(4)],
    ['one after the other', calls(...['0', '1', '2', '3'].map((at) => call(`c${at}`, 'write', { value: at })))],
  ])('it is exact %s; the rest has results and the turn ends [G3.6][G5.14][G8.30]', async (_name, batch) => {
    const run = await play([batch], { limits: { budgets: { launches: 2 } } });
    expect(run.stop).toEqual({ reason: 'budget_exhausted', budget: 'launches' });
    expect(run.context.started).toEqual(['c0', 'c1']);
    expect(outline(run.history).at(-1)).toBe('tool: #c0 | #c1 | #c2 error | #c3 error');
    expect(run.counters.launches).toBe(2);
  });

  test('a failed launch counts, a refused call does not [G5.14]', async () => {
    const failing = tool('failing', { execute: () => Promise.resolve({ text: 'no', isError: true }) });
    const run = await play([calls(call('c1', 'failing'), call('c2', 'nope')), says('ok')], { tools: [failing] });
    expect(run.counters.launches).toBe(1);
  });
});

describe('cancel', () => {
  test('a running call becomes cancelled, an unstarted one is not executed, all are paired [G5.24][G8.10][T2]', async () => {
    const stop = new AbortController();
    const slow = tool('slow', { effect: 'execute', concurrencySafe: false, execute: untilAborted });
    const run = await play([calls(call('c1', 'slow'), call('c2', 'slow', { value: 'b' }))], {
      tools: [slow],
      clock: new ManualClock(),
      signal: stop.signal,
      onEvent: (event) => void (event.type === 'tool_started' && queueMicrotask(() => stop.abort())),
    });
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'signal' });
    expect(lastResults(run.history).c1?.text).toBe('Cancelled while it was running.\ntold to end');
    expect(lastResults(run.history).c2?.text).toMatch(/^Not executed/);
    expect(run.unrecorded.results.map(({ callId, status }) => [callId, status])).toEqual([
      ['c1', 'cancelled'],
      ['c2', 'not_executed'],
    ]);
  });

  test('a result that comes after the abort is kept [T2]', async () => {
    const stop = new AbortController();
    const stubborn = tool('stubborn', { effect: 'write', execute: () => (stop.abort(), Promise.resolve(said('written'))) });
    const run = await play([calls(call('c1', 'stubborn'))], { tools: [stubborn], clock: new ManualClock(), signal: stop.signal });
    expect(lastResults(run.history).c1).toMatchObject({ text: 'written', is_error: false });
  });

  test.each([
    ['execute', 'unknown'],
    ['read', 'cancelled'],
  ] as const)('a tool with effect %s that does not return within the grace is %s [T2]', async (effect, status) => {
    const stop = new AbortController();
    const deaf = tool('deaf', { effect, execute: () => (stop.abort(), new Promise(() => undefined)) });
    const run = await play([calls(call('c1', 'deaf'))], { tools: [deaf], signal: stop.signal });
    expect(run.unrecorded.results).toMatchObject([{ callId: 'c1', status }]);
  });

  test('nothing starts between the end of the stream and the batch [G5.24][G8.11]', async () => {
    const stop = new AbortController();
    const run = await play([calls(call('c1', 'write'))], {
      signal: stop.signal,
      onEvent: (event) => void (event.type === 'finished' && stop.abort()),
    });
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'signal' });
    expect(run.context.started).toEqual([]);
    expect(outline(run.history).at(-1)).toBe('tool: #c1 error');
  });

  test('an abort of the wider tool signal alone ends the calls and not the run [G2.1][G2.2]', async () => {
    const goal = new AbortController();
    const slow = tool('slow', { execute: (input, execution) => (queueMicrotask(() => goal.abort()), untilAborted(input, execution)) });
    const run = await play([calls(call('c1', 'slow'), call('c2', 'write')), says('ok')], { tools: [slow], toolSignal: goal.signal });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(outline(run.history)[2]).toBe('tool: #c1 error | #c2 error');
  });

  test('a time limit is an error result, and the loop goes on [G5.23]', async () => {
    const clock = new ManualClock({ skipUpTo: 10_000 });
    const endless = tool('endless', { timeLimitMs: 10_000, execute: untilAborted });
    const run = await play([calls(call('c1', 'endless')), says('ok')], { tools: [endless], clock });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(lastResults(run.history).c1).toMatchObject({ is_error: true, text: 'endless did not finish within 10 s and was ended.' });
  });
});

describe('barriers', () => {
  test.each([
    ['a round with one effectful call costs two', calls(call('c1', 'write')), ['prepare', 'seal intent:c1', 'prepare']],
    [
      'a result shares with the next intent',
      calls(call('c1', 'write', { value: 'a' }), call('c2', 'write', { value: 'b' })),
      ['prepare', 'seal intent:c1', 'calls result:c1 intent:c2', 'prepare'],
    ],
    ['reads need no intent', reads(3), ['prepare', 'seal', 'prepare']],
    [
      'a result does not wait for reads that follow it',
      calls(call('c1', 'write'), call('c2', 'read')),
      ['prepare', 'seal intent:c1', 'calls result:c1', 'prepare'],
    ],
    [
      'reads first, then the intent',
      calls(call('c1', 'read'), call('c2', 'write')),
      ['prepare', 'seal', 'calls result:c1 intent:c2', 'prepare'],
    ],
  ])('%s [G7.1][G7.2]', async (_name, batch, expected) => {
    const journal = new MemoryJournal();
    const run = await play([batch, says('ok')], { journal });
    expect(journal.log).toEqual(expected);
    expect(run.unrecorded).toMatchObject({ response: { message: { role: 'assistant' } }, results: [], messages: [] });
  });

  test('an intent is committed before its call runs, its result before the next one [G2.6][G7.1]', async () => {
    const journal = new MemoryJournal();
    const facts: string[] = [];
    const writing = tool('write', {
      effect: 'write',
      concurrencySafe: false,
      execute: (_input, { callId }) => (
        facts.push(`${callId} ${journal.intents.has(callId)} ${[...journal.results.keys()].join()}`),
        Promise.resolve(said('ok'))
      ),
    });
    await play([calls(call('c1', 'write', { value: 'a' }), call('c2', 'write', { value: 'b' })), says('ok')], {
      journal,
      tools: [writing],
    });
    expect(facts).toEqual(['c1 true ', 'c2 true c1']);
  });

  test('a result is stored as the model reads it, and again only when its batch is cut further [G5.21][G7.9]', async () => {
    const journal = new MemoryJournal();
    const long = tool('long', { effect: 'execute', concurrencySafe: false, execute: () => Promise.resolve(said('x'.repeat(30_000))) });
    const batch = calls(...Array.from({ length: 9 }, (_, at) => call(`c${at}`, 'long', { value: `${at}` })));
    const run = await play([batch, says('ok')], { journal, tools: [long] });
    const read = Object.values(lastResults(run.history)).map((part) => part.text);
    expect([...journal.results.values()].map((result) => result.text)).toEqual(read);
    expect(read.every((told) => told.length === 22_222 && told.match(/was cut here/g)?.length === 1)).toBe(true);
    const small = new MemoryJournal();
    await play([calls(call('c1', 'write', { value: 'a' }), call('c2', 'write')), says('ok')], { journal: small });
    expect(small.requests[1]?.results.map(({ callId }) => callId)).toEqual(['c2']);
  });

  test('subagents run together: one barrier for their intents, each early result stored at once [G7.1]', async () => {
    const journal = new MemoryJournal();
    const gate = Promise.withResolvers<void>();
    const agent = tool('agent', {
      effect: 'agent',
      execute: async (_input, { callId }) => {
        if (callId === 'c1') await gate.promise;
        return said(callId);
      },
    });
    const run = await play([calls(call('c1', 'agent', { value: 'a' }), call('c2', 'agent', { value: 'b' })), says('ok')], {
      journal,
      tools: [agent],
      onEvent: (event) => void (event.type === 'tool_settled' && event.callId === 'c2' && setImmediate(gate.resolve)),
    });
    expect(journal.log).toEqual(['prepare', 'seal intent:c1 intent:c2', 'calls result:c2', 'prepare']);
    expect(outline(run.history)[2]).toBe('tool: #c1 | #c2');
  });
});

function untilAborted(_input: unknown, { signal }: ToolExecution<TestContext>): Promise<{ text: string; isError: boolean }> {
  return new Promise((resolve) => {
    const end = (): void => resolve({ text: 'told to end', isError: true });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
