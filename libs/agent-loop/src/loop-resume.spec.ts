import { describe, expect, test } from '@jest/globals';
import { MemoryJournal, type BarrierFault } from './testing/memory-journal.js';
import { lastResults, outline, play, type TestInput, type TestRun } from './testing/run.js';
import { call, calls, says, scriptedClient, type RecordedRequest, type Script } from './testing/scripted-client.js';
import { said, tool, write, read } from './testing/tools.js';

const batch = calls(call('w1', 'write', { value: 'a' }), call('r1', 'read'), call('w2', 'write', { value: 'b' }));

describe('a crash at each barrier', () => {
  const sides: readonly BarrierFault['fault'][] = ['before', 'after'];
  const cases = sides.flatMap((fault) => [0, 1, 2, 3, 4].map((at) => ({ at, fault })));

  test.each(cases)(
    '$fault barrier $at: no write runs twice, results are kept, history stays paired [G7.3][G7.4][G7.6][G7.8][G8.38]',
    async (fault) => {
      const journal = new MemoryJournal(fault);
      const context = { started: [], finished: [] };
      const client = scriptedClient(respond);
      const first = await play(client, { journal, context });
      const opened = journal.messages.length > 0;
      const start = opened ? journal.restart() : undefined;
      const second = first.stop.reason === 'completed' ? first : await play(client, { journal, context, ...(start && { start }) });
      expect(second.stop).toEqual({ reason: 'completed' });
      const writes = context.started.filter((id: string) => id.startsWith('w'));
      expect(writes).toEqual([...new Set(writes)]);
      const outlined = outline(second.history);
      expect(outlined.map((line) => line.replaceAll(' error', ''))).toEqual([
        'user: go',
        'assistant: write#w1 | read#r1 | write#w2',
        'tool: #w1 | #r1 | #w2',
        'assistant: ok',
      ]);
    },
  );

  test('a crash between rounds sends byte for byte the request of an uninterrupted run [G7.9]', async () => {
    const whole = scriptedClient(respond);
    await play(whole);
    const journal = new MemoryJournal({ at: 4, fault: 'after' });
    const client = scriptedClient(respond);
    await play(client, { journal });
    await play(client, { journal, start: journal.restart() });
    expect(client.requests.map((request) => JSON.stringify(request))).toEqual(whole.requests.map((request) => JSON.stringify(request)));
  });
});

describe('a call with intent and no result', () => {
  test('it is unknown and not executed again; its siblings without intent run [G7.7][G7.8][K17]', async () => {
    const run = await resumeAfterIntent([write, read]);
    expect(run.context.started).toEqual(['r1', 'w2']);
    expect(lastResults(run.history).w1).toMatchObject({ is_error: true });
    expect(lastResults(run.history).w1?.text).toMatch(/[Ii]nspect before retrying/);
  });

  test('that was started on a machine out of reach, it may still be running, and its result says so [K21]', async () => {
    const journal = new MemoryJournal({ at: 1, fault: 'after' });
    const client = scriptedClient(respond);
    await play(client, { journal });
    const start = journal.restart();
    const run = await play(client, { journal, start: { ...start, known: { ...start.known!, unreachable: new Set(['w1']) } } });
    expect(lastResults(run.history).w1?.text).toMatch(/another machine.*may still be running/);
    expect(run.context.started).toEqual(['r1', 'w2']);
  });

  test('what else is known of it stands behind the news that its outcome is unknown [G7.13]', async () => {
    const journal = new MemoryJournal({ at: 1, fault: 'after' });
    const client = scriptedClient(respond);
    await play(client, { journal });
    const start = journal.restart();
    const run = await play(client, {
      journal,
      start: { ...start, known: { ...start.known!, notes: new Map([['w1', 'It had read a file.']]) } },
    });
    expect(lastResults(run.history).w1?.text).toMatch(/unknown: .*[Ii]nspect before retrying\.\n\nIt had read a file\.$/);
  });

  test('it runs again under its call id when its tool is idempotent [G7.7][K17]', async () => {
    const run = await resumeAfterIntent([tool('write', { effect: 'write', concurrencySafe: false, idempotent: true }), read]);
    expect(run.context.started).toEqual(['w1', 'r1', 'w2']);
    expect(lastResults(run.history).w1?.is_error).toBe(false);
  });

  test('the hook before tools is asked again for a call that runs again: what it rewrote stays rewritten [G5.15]', async () => {
    const asked: string[] = [];
    const beforeTool = (planned: { readonly call: { readonly callId: string } }) => {
      asked.push(planned.call.callId);
      return Promise.resolve({ input: { value: 'safe' } });
    };
    const again = tool('write', { effect: 'write', concurrencySafe: false, idempotent: true });
    const run = await resumeAfterIntent([again, read], { hooks: { beforeTool } });
    expect(asked).toEqual(['w1', 'r1', 'w2', 'w1', 'r1', 'w2']);
    expect(lastResults(run.history).w1?.text).toBe('write:{"value":"safe"}');
    asked.length = 0;
    await resumeAfterIntent([write, read], { hooks: { beforeTool } });
    expect(asked).toEqual(['w1', 'r1', 'w2', 'r1', 'w2']);
  });

  test('the hook before tools keeps it from running again, and its outcome stays unknown [G5.15]', async () => {
    const again = tool('write', { effect: 'write', concurrencySafe: false, idempotent: true });
    let left = 3;
    const beforeTool = () => Promise.resolve(left-- > 0 ? null : { deny: 'No more.' });
    const run = await resumeAfterIntent([again, read], { hooks: { beforeTool } });
    expect(run.context.started).toEqual([]);
    expect(lastResults(run.history).w1?.text).toMatch(/outcome of this call is unknown.* It was not repeated\. No more\.$/);
    expect(lastResults(run.history).r1?.text).toBe('No more.');
  });

  test('a cancel before the resumed batch leaves it unknown, not unexecuted [G5.24]', async () => {
    const stop = new AbortController();
    stop.abort();
    const run = await resumeAfterIntent([write, read], { signal: stop.signal });
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'signal' });
    expect(run.unrecorded.results.map(({ callId, status }) => [callId, status])).toEqual([
      ['w1', 'unknown'],
      ['r1', 'not_executed'],
      ['w2', 'not_executed'],
    ]);
  });
});

describe('barrier replies', () => {
  test.each([
    ['before the request', 0, []],
    ['at the seal', 1, []],
    ['at the next intent', 3, ['w1', 'r1']],
  ] as const)('a lost lease %s stops at once and nothing more runs [G7.10]', async (_name, at, started) => {
    const journal = new MemoryJournal({ at, fault: 'lost' });
    const run = await play(scriptedClient(respond), { journal });
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'lease_lost' });
    expect(run.context.started).toEqual(started);
  });

  test('a stop flag found by a barrier cancels; unstarted calls are not executed [T2][K18]', async () => {
    const run = await play(scriptedClient(respond), { journal: new MemoryJournal({ at: 3, fault: 'stopped' }) });
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'stop' });
    expect(run.context.started).toEqual(['w1', 'r1']);
    expect(outline(run.history).at(-1)).toBe('tool: #w1 | #r1 | #w2 error');
  });

  test('a barrier that fails stops with a persistence error and nothing runs past it [G7.3]', async () => {
    const run = await play(scriptedClient(respond), { journal: new MemoryJournal({ at: 1, fault: 'before' }) });
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'persistence' });
    expect(run.context.started).toEqual([]);
    expect(outline(run.history).at(-1)).toBe('tool: #w1 error | #r1 error | #w2 error');
  });
});

describe('hand-over', () => {
  test('it stops at the next barrier, keeps what ran, and the next worker goes on from there [K23]', async () => {
    const journal = new MemoryJournal();
    const handOver = new AbortController();
    const client = scriptedClient(respond);
    const leaving = tool('write', { ...write, execute: () => (handOver.abort(), Promise.resolve(said('written'))) });
    const first = await play(client, { journal, handOver: handOver.signal, tools: [leaving, read] });
    expect(first.stop).toEqual({ reason: 'handed_over' });
    expect(first.context.started).toEqual(['w1']);
    journal.settle(first.unrecorded);
    const second = await play(client, { journal, start: journal.restart() });
    expect(second.context.started).toEqual(['r1', 'w2']);
    expect(second.stop).toEqual({ reason: 'completed' });
    expect(second.history.at(-2)?.parts[0]).toMatchObject({ call_id: 'w1', text: 'written' });
  });

  test('a command that is killed for it has no result: the next worker reads unknown [K23]', async () => {
    const journal = new MemoryJournal();
    const [handOver, kill] = [new AbortController(), new AbortController()];
    const killed = tool('write', {
      effect: 'execute',
      concurrencySafe: false,
      execute: () => (handOver.abort(), kill.abort(), Promise.resolve({ text: 'killed', isError: true })),
    });
    const first = await play(scriptedClient(respond), {
      journal,
      handOver: handOver.signal,
      toolSignal: kill.signal,
      tools: [killed, read],
    });
    expect(first.stop).toEqual({ reason: 'handed_over' });
    journal.settle(first.unrecorded);
    expect(journal.results.has('w1')).toBe(false);
    const second = await play(scriptedClient(respond), { journal, start: journal.restart() });
    expect(second.history.at(-2)?.parts[0]).toMatchObject({ call_id: 'w1', is_error: true });
  });
});

describe('a response that an earlier run left at its stop point', () => {
  /** A run that dies once its answer is stored, and the rest of its turn. */
  async function dieInStopHook(blocks: number, between: (journal: MemoryJournal) => void = () => undefined) {
    const journal = new MemoryJournal({ at: 1, fault: 'after' });
    const client = scriptedClient([says('ok'), says('checked')]);
    const [asked, prompts]: [string[], string[]] = [[], []];
    const hooks: NonNullable<TestInput['hooks']> = {
      promptSubmit: ({ sendType }) => (prompts.push(sendType), Promise.resolve(null)),
      stop: ({ text, reason }) => (asked.push(`${text} ${reason}`), Promise.resolve(asked.length > blocks ? null : { block: 'Check.' })),
    };
    await play(client, { journal, hooks });
    const start = journal.restart();
    between(journal);
    const run = await play(client, { journal, hooks, start });
    return { run, asked, prompts, sent: outline(client.requests.at(-1)?.messages ?? []), requests: client.requests.length };
  }

  test('the stop hook is asked about it, and it ends the turn without another request [G7.9]', async () => {
    const { run, asked, requests } = await dieInStopHook(0);
    expect([run.stop, run.lastResponse?.text, asked, requests]).toEqual([{ reason: 'completed' }, 'ok', ['ok stop'], 1]);
    expect(outline(run.history)).toEqual(['user: go', 'assistant: ok']);
  });

  test('a block goes on with one request, which no prompt hook sees, as in an uninterrupted run [G7.9]', async () => {
    const { run, asked, prompts, sent, requests } = await dieInStopHook(1);
    expect([run.stop, asked, requests]).toEqual([{ reason: 'completed' }, ['ok stop', 'checked stop'], 2]);
    expect(sent).toEqual(['user: go', 'assistant: ok', 'user: Check.']);
    expect(prompts).toEqual(['user']);
  });

  test('a Lead that waits comes before the hook', async () => {
    const { asked, sent } = await dieInStopHook(0, (journal) => journal.leads.push('Faster.'));
    expect(sent).toEqual(['user: go', 'assistant: ok', 'user: Faster.']);
    expect(asked).toEqual(['checked stop']);
  });

  test('nobody is asked under a lease that is lost [G7.10]', async () => {
    const { run, asked } = await dieInStopHook(0, (journal) => journal.arm({ at: 0, fault: 'lost' }));
    expect([run.stop, asked]).toEqual([expect.objectContaining({ kind: 'lease_lost' }), []]);
  });

  test('a hand-over while the stop hook runs is no consent: the next worker asks it again [K23]', async () => {
    const journal = new MemoryJournal();
    const handOver = new AbortController();
    const client = scriptedClient([says('ok'), says('checked')]);
    const first = await play(client, {
      journal,
      handOver: handOver.signal,
      hooks: { stop: () => (handOver.abort(), Promise.resolve(null)) },
    });
    expect(first.stop).toEqual({ reason: 'handed_over' });
    journal.settle(first.unrecorded);
    let blocks = 1;
    const stop = () => Promise.resolve(blocks-- > 0 ? { block: 'Check.' } : null);
    const second = await play(client, { journal, start: journal.restart(), hooks: { stop } });
    expect(second.stop).toEqual({ reason: 'completed' });
    expect(outline(second.history)).toEqual(['user: go', 'assistant: ok', 'user: Check.', 'assistant: checked']);
  });
});

test('a hand-over that cuts off the hook before a tool leaves its call open: the next worker asks again and runs it [K23]', async () => {
  const journal = new MemoryJournal();
  const [handOver, kill] = [new AbortController(), new AbortController()];
  const client = scriptedClient(respond);
  const beforeTool = () => (handOver.abort(), kill.abort(), Promise.resolve(null));
  const first = await play(client, { journal, handOver: handOver.signal, toolSignal: kill.signal, hooks: { beforeTool } });
  expect([first.stop, first.unrecorded.results, first.context.started]).toEqual([{ reason: 'handed_over' }, [], []]);
  journal.settle(first.unrecorded);
  const second = await play(client, { journal, start: journal.restart() });
  expect(second.stop).toEqual({ reason: 'completed' });
  expect(second.context.started).toEqual(['w1', 'r1', 'w2']);
});

test('the handled set is rebuilt from history: a replay after a resume is still a replay [G5.7]', async () => {
  const journal = new MemoryJournal({ at: 3, fault: 'after' });
  const again: Script = calls(call('w1', 'write', { value: 'a' }));
  const client = scriptedClient((request) => (request.messages.length < 3 ? again : request.messages.length < 5 ? again : says('ok')));
  await play(client, { journal });
  const resumed = await play(client, { journal, start: journal.restart() });
  expect(resumed.context.started).toEqual([]);
  expect(outline(resumed.history)).toContain('tool: #w1-r2 error');
});

/** Answers by what the request holds, so that a repeated request gets the same response. */
function respond(request: RecordedRequest): Script {
  return request.messages.some((message) => message.role === 'tool') ? says('ok') : batch;
}

/** The process died after the seal that carried the first intent. */
async function resumeAfterIntent(tools: readonly (typeof write)[], given: Parameters<typeof play>[1] = {}): Promise<TestRun> {
  const journal = new MemoryJournal({ at: 1, fault: 'after' });
  const client = scriptedClient(respond);
  const { signal, ...surface } = given;
  await play(client, { ...surface, journal, tools });
  return play(client, { ...surface, journal, start: journal.restart(), tools, ...(signal ? { signal } : {}) });
}
