import { describe, expect, test } from '@jest/globals';
import type { LoopEvent } from './loop-events.js';
import type { ModelMessage } from './model-port.js';
import { MemoryJournal } from './testing/memory-journal.js';
import { outline, play, type TestInput, type TestRun } from './testing/run.js';
import {
  call,
  calls,
  failure,
  finish,
  says,
  scriptedClient,
  text,
  usage,
  type RecordedRequest,
  type Script,
  type ScriptedClient,
} from './testing/scripted-client.js';
import { said, tool } from './testing/tools.js';

const WINDOW = 10_000;
/** A result of 1,000 tokens. */
const large = tool('large', { execute: () => Promise.resolve(said('r'.repeat(4_000))) });

const isSummary = ({ tools }: RecordedRequest): boolean => tools.length === 0;
const FULL = usage(8_000, 10);

/** A model that works for so many rounds, the window full after each, and says `done`; it answers requests for a summary with `summary`. */
function worker(rounds: number, summary: (count: number) => Script = (count) => says(`Summary ${count}.`), used = FULL): ScriptedClient {
  let [round, summaries] = [0, 0];
  return scriptedClient((request) => {
    if (isSummary(request)) return summary(++summaries);
    return round++ < rounds ? [text('next'), call(`c${round}`, 'large', { value: `${round}` }), finish('tool_calls', used)] : says('done');
  });
}

function work(client: ScriptedClient, input: TestInput = {}): Promise<TestRun> {
  return play(client, { contextWindow: WINDOW, tools: [large], ...input });
}

function summaries(run: TestRun): readonly RecordedRequest[] {
  return run.client.requests.filter(isSummary);
}

function turns(run: TestRun): readonly RecordedRequest[] {
  return run.client.requests.filter((request) => !isSummary(request));
}

const user = (said: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text: said }] });
const assistant = (said: string): ModelMessage => ({ role: 'assistant', parts: [{ type: 'text', text: said }] });
const opening = { parts: [{ type: 'text', text: 'go' }], sendType: 'user' } as const;

/** Messages in short, a summary by what it says. */
function short(messages: readonly ModelMessage[]): string[] {
  return outline(messages).map((line) => /<summary>\n(.*)\n<\/summary>/s.exec(line)?.[1] ?? line);
}

describe('a prompt that leaves too little room', () => {
  test('in mid-run is compacted: summary, opening, and the end as it was, pairs together [G7.12][G8.37]', async () => {
    const run = await work(worker(5, undefined, usage(null, null)), { contextWindow: 4_500 });
    expect(run.stop).toEqual({ reason: 'completed' });
    const compacted = turns(run).findIndex(({ messages }) => short(messages)[0] === 'Summary 1.');
    expect(short(turns(run)[compacted]?.messages ?? [])).toEqual(['Summary 1.', 'user: go', 'assistant: next | large#c4', 'tool: #c4']);
    expect(short(run.history).at(-1)).toBe('assistant: done');
  });

  test('is summarised by one round of the same model, without tools, under the same system prompt [W10]', async () => {
    const run = await work(worker(1));
    expect(run.client.requests.map(isSummary)).toEqual([false, true, false]);
    expect(new Set(run.client.requests.map(({ system, model }) => `${model} ${system}`)).size).toBe(1);
    const asked = outline(summaries(run)[0]?.messages ?? []).join();
    expect(asked).toContain('[user]\ngo');
  });

  test('costs what its summary costs, and says so [G2.11]', async () => {
    const limits = { budgets: { cost: { limit: 100, price: () => 1 } } };
    const run = await work(worker(1), { limits });
    expect(run.counters).toMatchObject({ rounds: 2, sessionRounds: 2, tokens: 8_010 + 110 + 110, cost: 3 });
    const [event, ...others] = eventsOf(run, 'compacted');
    expect(event).toMatchObject({ usage: usage() });
    expect(others).toEqual([]);
    expect(eventsOf(run, 'content')).toEqual([
      { type: 'content', text: 'next' },
      { type: 'content', text: 'done' },
    ]);
  });

  test('ends the turn when its summary was more than the budget had left [G3.6]', async () => {
    const run = await work(worker(1), { limits: { budgets: { tokens: 8_100 } } });
    expect(run.stop).toEqual({ reason: 'budget_exhausted', budget: 'tokens' });
    expect(turns(run)).toHaveLength(1);
  });

  test('is compacted again when it is full again, the earlier summary folded in [G8.37]', async () => {
    const run = await work(worker(12, undefined, usage(null, null)), { contextWindow: 4_500 });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(summaries(run).length).toBeGreaterThan(2);
    for (const [at, request] of summaries(run).entries()) {
      const asked = outline(request.messages).join();
      for (let earlier = 1; earlier <= at; earlier++) expect(asked.includes(`Summary ${earlier}.`)).toBe(earlier === at);
    }
    for (const { messages } of turns(run)) expect(outline(messages).filter((line) => line === 'user: go')).toHaveLength(1);
  });

  test('of a new turn drops what earlier turns kept word for word [L19]', async () => {
    const history = [user('old'), ...Array.from({ length: 20 }, (_, at) => assistant(`${at} `.repeat(2_000))), user('older')];
    const run = await work(worker(0), { start: { history, opening } });
    expect(short(turns(run)[0]?.messages ?? [])[0]).toBe('Summary 1.');
    expect(outline(run.history)).not.toContain('user: old');
    expect(outline(run.history)).toContain('user: go');
  });

  test('keeps the Leads of the turn, each once, however often it is compacted [L19]', async () => {
    const journal = new MemoryJournal();
    let round = 0;
    const lead = tool('large', {
      execute: () => {
        if (++round === 2 || round === 5) journal.leads.push(`lead ${round}`);
        return Promise.resolve(said('r'.repeat(4_000)));
      },
    });
    const run = await work(worker(12, undefined, usage(null, null)), { contextWindow: 4_500, journal, tools: [lead] });
    expect(run.stop).toEqual({ reason: 'completed' });
    for (const [at, { messages }] of turns(run).entries()) {
      const lines = outline(messages);
      expect(lines.filter((line) => line === 'user: go')).toHaveLength(1);
      expect(lines.filter((line) => line === 'user: lead 2')).toHaveLength(at >= 2 ? 1 : 0);
      expect(lines.filter((line) => line === 'user: lead 5')).toHaveLength(at >= 5 ? 1 : 0);
    }
  });

  test('gives up even its last results when they alone are most of the window', async () => {
    const huge = tool('large', { execute: () => Promise.resolve(said('r'.repeat(24_000))) });
    const run = await work(worker(1, undefined, usage(null, null)), { contextWindow: 6_000, tools: [huge] });
    expect(short(turns(run)[1]?.messages ?? [])).toEqual(['Summary 1.', 'user: go']);
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('cuts long results out of the transcript, so that the request for a summary fits', async () => {
    const history = [user('old'), ...Array.from({ length: 30 }, (_, at) => assistant(`${at}`.padEnd(4_000, '.')))];
    const run = await work(worker(0), { start: { history, opening } });
    const asked = outline(summaries(run)[0]?.messages ?? []).join();
    expect(asked.length / 4).toBeLessThan(0.8 * WINDOW);
    expect(asked).toContain('[…]');
  });

  test('stays as it is while it is small', async () => {
    const run = await work(worker(3, undefined, usage(5_000, 10)));
    expect(summaries(run)).toEqual([]);
  });
});

describe('a summary that fails', () => {
  const broken: readonly (readonly [string, Script])[] = [
    ['is empty', [text(' '), finish('stop')]],
    ['is cut off', [text('Half'), finish('length')]],
    ['is refused', [failure({ status: 400 })]],
    ['makes calls', [text('x'), call('s1', 'large'), finish('tool_calls')]],
    ['is longer than what it replaces', says('long '.repeat(20_000))],
  ];
  test.each(broken)('because it %s leaves the history as it was', async (_name, script) => {
    const run = await work(worker(1, () => script));
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(short(turns(run)[1]?.messages ?? [])).toEqual(['user: go', 'assistant: next | large#c1', 'tool: #c1']);
    expect(eventsOf(run, 'compacted')).toEqual([]);
  });

  test('three times is not asked for any more while the prompt still fits', async () => {
    const run = await work(worker(6, () => [finish('stop')]));
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(summaries(run)).toHaveLength(6);
    expect(run.counters.failedCompactions).toBe(3);
  });

  test('because the provider is down is retried as any round', async () => {
    const run = await work(worker(1, (count) => (count === 1 ? [failure({ status: 503 })] : says('Summary.'))));
    expect(short(run.history)[0]).toBe('Summary.');
    expect(eventsOf(run, 'retry')).toHaveLength(1);
  });

  test('because the run is cancelled ends it as cancelled, history as it was [G2.1]', async () => {
    const controller = new AbortController();
    const script: Script = [{ type: 'do', run: () => controller.abort() }];
    const run = await work(
      worker(1, () => script),
      { signal: controller.signal },
    );
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'signal' });
    expect(outline(run.history)).toEqual(['user: go', 'assistant: next | large#c1', 'tool: #c1']);
  });
});

describe('a prompt that cannot fit', () => {
  test('is a local error; no request is sent, not even for a summary [W9]', async () => {
    const run = await work(worker(0), {
      start: { history: [], opening: { ...opening, parts: [{ type: 'text', text: 'x'.repeat(50_000) }] } },
    });
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'prompt_too_large' });
    expect(run.client.requests).toEqual([]);
  });

  test('because its summary fails is the same error, history as it was [W9]', async () => {
    const history = [user('old'), ...Array.from({ length: 12 }, (_, at) => assistant(`${at}`.padEnd(4_000, '.')))];
    const run = await work(
      worker(0, () => [finish('stop')]),
      { start: { history, opening } },
    );
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'prompt_too_large' });
    expect(turns(run)).toEqual([]);
    expect(run.history).toHaveLength(14);
  });
});

describe('a prompt that the provider finds too long', () => {
  const refusal: Script = [failure({ status: 400, message: "HTTP 400: This model's maximum context length is 4096 tokens." })];

  function refusing(times: number): ScriptedClient {
    let left = times;
    return scriptedClient((request, index) => {
      if (isSummary(request)) return says('Summary.');
      if (index === 0) return calls(call('c1', 'large'));
      return left-- > 0 ? refusal : says('done');
    });
  }

  test('is compacted once and sent again', async () => {
    const run = await work(refusing(1), { start: { history: [assistant('old '.repeat(2_000))], opening } });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(short(run.history)).toEqual(['Summary.', 'user: go', 'assistant: large#c1', 'tool: #c1', 'assistant: done']);
  });

  test('twice in one round is an error', async () => {
    const run = await work(refusing(2), { start: { history: [assistant('old '.repeat(2_000))], opening } });
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'model_request' });
    expect(summaries(run)).toHaveLength(1);
  });
});

function eventsOf<Type extends LoopEvent['type']>({ events }: TestRun, type: Type): LoopEvent[] {
  return events.filter((event) => event.type === type);
}
