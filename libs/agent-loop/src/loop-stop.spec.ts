import { describe, expect, test } from '@jest/globals';
import type { LoopEvent } from './loop-events.js';
import { Spending } from './spending.js';
import { MemoryJournal } from './testing/memory-journal.js';
import { outline, play } from './testing/run.js';
import { call, calls, finish, says, usage } from './testing/scripted-client.js';
import { said, tool } from './testing/tools.js';

describe('the stop point', () => {
  test('the stop hook is asked before the policies, in order, and each may go on [G2.12][G6.3][G8.29]', async () => {
    const asked: string[] = [];
    const once = (name: string) => {
      let left = 1;
      return () => (asked.push(name), Promise.resolve(left-- > 0 ? name : null));
    };
    const [hook, first, second] = [once('hook'), once('first'), once('second')];
    const policy = (name: string, decide: () => Promise<string | null>) => ({
      name,
      decide: async () => wish(await decide()),
    });
    const run = await play([says('1'), says('2'), says('3'), says('4')], {
      hooks: { stop: async () => blocked(await hook()) },
      stopPolicies: [policy('first', first), policy('second', second)],
    });
    expect(asked).toEqual(['hook', 'hook', 'first', 'hook', 'first', 'second', 'hook', 'first', 'second']);
    expect(outline(run.history).filter((line) => line.startsWith('user'))).toEqual([
      'user: go',
      'user: hook',
      'user: first',
      'user: second',
    ]);
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('a stop hook blocks eight times; at the cap policies are told and not asked [G6.4][G8.28]', async () => {
    const told: string[] = [];
    const run = await play(
      [...Array.from({ length: 4 }, () => says('x')), calls(call('c1', 'read')), ...Array.from({ length: 5 }, () => says('x'))],
      {
        hooks: { stop: () => Promise.resolve({ block: 'more' }) },
        stopPolicies: [{ name: 'todo', decide: () => Promise.reject(new Error('asked')), onStopHookCap: () => told.push('told') }],
      },
    );
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(run.counters.stopHookBlocks).toBe(8);
    expect(run.client.requests).toHaveLength(10);
    expect(told).toEqual(['told']);
    expect(ofType(run.events, 'stop_hook_loop')).toHaveLength(7);
  });

  test('a policy with a limited number of attempts goes on until they are spent [G8.43]', async () => {
    let attempts = 3;
    const todo = { name: 'todo', decide: () => Promise.resolve(attempts-- > 0 ? { continueWith: 'unfinished todos' } : null) };
    const run = await play([says('1'), says('2'), says('3'), says('4')], { stopPolicies: [todo] });
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(run.rounds).toBe(4);
  });

  test('a continuation stays under the prompt id of its turn [G6.5]', async () => {
    const journal = new MemoryJournal();
    let left = 1;
    await play([says('1'), says('2')], { journal, hooks: { stop: () => Promise.resolve(left-- > 0 ? { block: 'more' } : null) } });
    expect(journal.requests.map(({ promptId, sendType }) => [promptId, sendType])).toEqual([
      ['p1', 'user'],
      ['p1', 'hook'],
    ]);
  });
});

describe('limits', () => {
  test('maxRounds hands back the unsent results; they are in history too [G6.2]', async () => {
    const run = await play([calls(call('c1', 'read'))], { limits: { maxRounds: 1 } });
    expect(run.stop).toEqual({ reason: 'next_round' });
    expect(run.unsentResults).toBe(run.history.at(-1));
    expect(run.unrecorded.results.map(({ callId }) => callId)).toEqual(['c1']);
  });

  test('a message past the turn cap is turn_cap, never the previous answer [G6.9][G8.31]', async () => {
    const first = await play([says('one')], { limits: { turnCap: 1 } });
    expect(first.stop).toEqual({ reason: 'completed' });
    const opening = { parts: [{ type: 'text', text: 'again' }], sendType: 'user' } as const;
    const second = await play([], { limits: { turnCap: 1 }, start: { history: [...first.history], opening, counters: first.counters } });
    expect(second.stop).toEqual({ reason: 'turn_cap', cap: 1 });
    expect(second.lastResponse).toBeNull();
    expect(second.client.requests).toEqual([]);
  });

  test('tool rounds and continuations count towards the turn cap; what it forbids is not lost [G3.4]', async () => {
    const hooks = { stop: () => Promise.resolve({ block: 'more' }) };
    const run = await play([calls(call('c1', 'read')), says('x')], { limits: { turnCap: 2 }, hooks });
    expect(run.stop).toEqual({ reason: 'turn_cap', cap: 2 });
    expect(outline(run.unrecorded.messages)).toEqual(['user: more']);
  });

  test('a retry does not count towards the turn cap [G6.9]', async () => {
    const first = await play([says('one')], { limits: { turnCap: 1 } });
    const opening = { parts: [{ type: 'text', text: 'again' }], sendType: 'retry' } as const;
    const second = await play([says('two')], {
      limits: { turnCap: 1 },
      start: { history: [...first.history], opening, counters: first.counters },
    });
    expect(second.stop).toEqual({ reason: 'completed' });
    expect(second.counters.sessionRounds).toBe(1);
  });

  test('a turn cap of 0 is a configuration error [G6.9]', async () => {
    const run = await play([], { limits: { turnCap: 0 } });
    expect(run.stop).toMatchObject({ reason: 'error', kind: 'configuration' });
  });

  test('the token limit is checked before compaction [G3.5][G8.42]', async () => {
    const script = [call('c1', 'read'), finish('tool_calls', usage(9_000, 10))];
    const run = await play([script], { limits: { tokenLimit: 9_000 }, contextWindow: 10_000 });
    expect(run.stop).toEqual({ reason: 'token_limit', limit: 9_000, used: 9_010 });
    expect(run.client.requests).toHaveLength(1);
    expect(outline(run.history).at(-1)).toBe('tool: #c1');
  });

  test.each([
    ['rounds', { rounds: 1 }],
    ['tokens', { tokens: 110 }],
    ['cost', { cost: { limit: 1, price: () => 1 } }],
    ['wall_time', { wallTimeMs: 0 }],
  ] as const)('the budget of %s ends the turn with paired results [G2.13][G3.6]', async (budget, budgets) => {
    const run = await play([calls(call('c1', 'read'))], { limits: { budgets } });
    expect(run.stop).toEqual({ reason: 'budget_exhausted', budget });
    if (budget !== 'wall_time') expect(outline(run.history).at(-1)).toBe('tool: #c1');
  });

  test('what other loops of the turn spend counts towards its tokens and its cost [G3.6]', async () => {
    for (const [budget, budgets] of [
      ['tokens', { tokens: 500 }],
      ['cost', { cost: { limit: 5, price: () => 1 } }],
    ] as const) {
      const spending = new Spending();
      const delegate = tool('delegate', { effect: 'agent', execute: () => (spending.add(390, 4), Promise.resolve(said('done'))) });
      const run = await play([calls(call('c1', 'delegate'))], { limits: { budgets }, spending, tools: [delegate] });
      expect(run.stop).toEqual({ reason: 'budget_exhausted', budget });
      expect(run.counters.tokens).toBe(110);
      expect(spending.tokens).toBe(500);
    }
  });

  test('a blocked prompt sends nothing; blocked results stay paired [G5.15][G8.41]', async () => {
    const blockAt = (sendType: string) => ({
      promptSubmit: (prompt: { sendType: string }) => Promise.resolve(prompt.sendType === sendType ? { block: 'no' } : null),
    });
    const first = await play([], { hooks: blockAt('user') });
    expect(first.stop).toEqual({ reason: 'prompt_blocked', explanation: 'no' });
    const later = await play([calls(call('c1', 'read'))], { hooks: blockAt('tool_result') });
    expect(later.stop).toEqual({ reason: 'prompt_blocked', explanation: 'no' });
    expect(outline(later.history).at(-1)).toBe('tool: #c1');
    expect(later.unsentResults).toBeDefined();
  });
});

function ofType<Type extends LoopEvent['type']>(events: readonly LoopEvent[], type: Type): LoopEvent[] {
  return events.filter((event) => event.type === type);
}

function wish(text: string | null): { readonly continueWith: string } | null {
  return text === null ? null : { continueWith: text };
}

function blocked(text: string | null): { readonly block: string } | null {
  return text === null ? null : { block: text };
}
