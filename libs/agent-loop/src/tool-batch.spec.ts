import { describe, expect, test } from '@jest/globals';
import type { IdentifiedCall } from './call-result.js';
import { MemoryJournal } from './testing/memory-journal.js';
import { lastResults, outline, play } from './testing/run.js';
import { call, calls, finish, says, scriptedClient, text, type Script } from './testing/scripted-client.js';
import { said, tool, type read } from './testing/tools.js';

describe('duplicates', () => {
  test('the same id with other arguments is a new call under a fresh id [G5.2][G8.22]', async () => {
    const run = await play([calls(call('c1', 'read', { value: 'a' }), call('c1', 'read', { value: 'b' })), says('ok')]);
    expect(outline(run.history).slice(1, 3)).toEqual(['assistant: read#c1 | read#c1-r2', 'tool: #c1 | #c1-r2']);
    expect(run.context.started).toEqual(['c1', 'c1-r2']);
  });

  test('the same call twice in one response runs once [G5.3][G8.22]', async () => {
    const run = await play([calls(call('c1', 'write', '{"value":"a"}'), call('c1', 'write', '{ "value": "a" }')), says('ok')]);
    expect(run.context.started).toEqual(['c1']);
    expect(lastResults(run.history)['c1-r2']?.text).toMatch(/^Duplicate/);
  });

  test('a replay is answered once with an error and not executed [G5.4][G8.22]', async () => {
    const run = await play([calls(call('c1', 'write')), calls(call('c1', 'write'), call('c2', 'read')), says('ok')]);
    expect(run.context.started).toEqual(['c1', 'c2']);
    expect(outline(run.history)[4]).toBe('tool: #c1-r2 error | #c2');
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('a second replay runs nothing of its batch, pairs every call and stops [G5.5][G8.22]', async () => {
    const again = calls(call('c2', 'read'), call('c1', 'write'));
    const run = await play([calls(call('c1', 'write')), calls(call('c1', 'write')), again]);
    expect(run.stop).toMatchObject({ reason: 'duplicate_provider_call' });
    expect(run.context.started).toEqual(['c1']);
    expect(outline(run.history).at(-1)).toBe('tool: #c2 error | #c1-r3 error');
  });

  test('a handled call twice in one batch stops at once [G5.5]', async () => {
    const run = await play([calls(call('c1', 'write')), calls(call('c1', 'write'), call('c1', 'write'), call('c2', 'read'))]);
    expect(run.stop).toMatchObject({ reason: 'duplicate_provider_call' });
    expect(run.context.started).toEqual(['c1']);
  });

  test('missing ids are generated from turn, round and index [G5.6][G8.22]', async () => {
    const run = await play([calls(call('', 'read'), call('', 'read', { value: 'b' })), says('ok')]);
    expect(run.context.started).toEqual(['t1-1-0', 't1-1-1']);
  });

  test('a provider whose ids repeat across responses gets generated ones: nothing is a replay [G5.6]', async () => {
    const client = scriptedClient([calls(call('call_0', 'write')), calls(call('call_0', 'write')), says('ok')], { repeatsCallIds: true });
    const run = await play(client);
    expect(run.context.started).toEqual(['t1-1-0', 't1-2-0']);
  });
});

describe('selection', () => {
  test('calls after a turn-ending call are neither validated nor approved, and the turn ends [G5.8][G5.22][G8.34][G8.35]', async () => {
    const checked: string[] = [];
    const permissions = {
      check: ({ call: made }: { call: IdentifiedCall }) => (checked.push(made.callId), { decision: 'allow' } as const),
      ask: () => Promise.reject(new Error('asked')),
    };
    const batch = calls(call('c1', 'read'), call('c2', 'ask'), call('c3', 'read', { wrong: 1 }), call('c4', 'write'));
    const run = await play([batch], { policies: { permissions } });
    expect(run.stop).toEqual({ reason: 'tool_ended_turn', callId: 'c2', tool: 'ask' });
    expect([run.context.started, checked]).toEqual([
      ['c1', 'c2'],
      ['c1', 'c2'],
    ]);
    expect(lastResults(run.history).c3?.text).toMatch(/ends the turn/);
    expect(run.unsentResults).toBe(run.history.at(-1));
  });

  test('a withheld call still gets a result, in its place [G2.9][G5.20][G8.32]', async () => {
    const select = () => new Map([['c1', 'Not now.']]);
    const run = await play([calls(call('c1', 'read'), call('c2', 'read', { value: 'b' })), says('ok')], { policies: { select } });
    expect(outline(run.history)[2]).toBe('tool: #c1 error | #c2');
    expect(lastResults(run.history).c1?.text).toBe('Not now.');
  });

  test('results are reported by class: replays, executed, skipped, repeats [G2.10][G5.20]', async () => {
    const reported: string[] = [];
    const onResults = (results: readonly { callId: string }[]) => (
      reported.push(results.map(({ callId }) => callId).join(' ')),
      'go_on' as const
    );
    const select = (open: readonly IdentifiedCall[]) =>
      new Map(open.filter(({ callId }) => callId === 'skip').map(({ callId }) => [callId, 'Not now.']));
    const batch = calls(call('skip', 'read', { value: 'b' }), call('c2', 'read'), call('c2', 'read'), call('c1', 'write'));
    await play([calls(call('c1', 'write')), batch, says('ok')], { policies: { select, onResults } });
    expect(reported).toEqual(['c1', 'c1-r2 c2 skip c2-r2']);
  });

  test('a pending Lead lets the first call run and skips the others [L3]', async () => {
    const journal = new MemoryJournal();
    const batch: Script = [
      { type: 'do', run: () => journal.leads.push('wait') },
      ...calls(call('c1', 'write'), call('c2', 'write', { value: 'b' })),
    ];
    const run = await play([batch, says('ok')], { journal });
    expect(run.context.started).toEqual(['c1']);
    expect(lastResults(run.history).c2?.text).toMatch(/operator redirected/);
    expect(outline(run.client.requests[1]?.messages ?? [])).toEqual([
      'user: go',
      'assistant: write#c1 | write#c2',
      'tool: #c1 | #c2 error',
      'user: wait',
    ]);
  });

  test('a Lead during concurrent reads lets the started ones finish [L4][L5]', async () => {
    let pending = false;
    const slow = tool('slow', { execute: () => ((pending = true), Promise.resolve(said('ok'))) });
    const batch = calls(...['a', 'b', 'c'].map((value) => call(value, 'slow', { value })));
    const run = await play([batch, says('ok')], {
      tools: [slow],
      concurrency: 2,
      leadPending: () => pending,
      stopPolicies: [],
      limits: { maxRounds: 1 },
    });
    expect(run.context.finished).toEqual(['a', 'b']);
    expect(lastResults(run.history).c?.text).toMatch(/operator redirected/);
  });
});

describe('validation', () => {
  test('an error names tool, path and rule and never repeats the value [G2.5]', async () => {
    const secret = 'sk-secret-that-is-too-long-for-the-rule';
    const run = await play([calls(call('c1', 'write', { value: secret, extra: secret })), says('ok')]);
    const { text: told } = lastResults(run.history).c1 ?? { text: '' };
    expect(told).toContain('Invalid arguments for write:');
    expect(told).toContain('- value: must have at most 20 characters');
    expect(told).toContain('- extra: unknown argument');
    expect(told).not.toContain('secret');
    expect(run.context.started).toEqual([]);
  });

  test('malformed JSON is an error result without an echo', async () => {
    const run = await play([calls(call('c1', 'write', '{"value": secret,}')), says('ok')]);
    expect(lastResults(run.history).c1?.text).toBe('Invalid arguments for write: they are not valid JSON.');
  });

  test('an unknown tool is named in printable characters, with the nearest names [G5.18][G8.23]', async () => {
    const run = await play([calls(call('c1', 'ra\u001bed')), says('ok')]);
    expect(lastResults(run.history).c1?.text).toBe('Unknown tool ra\ufffded. Nearest names: read, ask, write.');
  });

  test('the third identical invalid call in a row asks for another approach [G5.19][G8.24]', async () => {
    const wrong = (id: string) => calls(call(id, 'write', { wrong: 1 }));
    const run = await play([wrong('c1'), wrong('c2'), wrong('c3'), says('ok')]);
    const told = run.history.flatMap((message) => (message.role === 'tool' ? message.parts.map((part) => part.text) : []));
    expect(told.map((line) => line.includes('another approach'))).toEqual([false, false, true]);
  });

  test('an edit whose arguments were cut off is not executed, even if the fragment parses [G5.17][G8.19]', async () => {
    const client = scriptedClient([
      [call('c1', 'write', { value: 'a' }), finish('stop', { inputTokens: 1, outputTokens: 9, cachedInputTokens: 0, reasoningTokens: 0 })],
      says('ok'),
    ]);
    const run = await play(client, { models: [{ client, model: 'm1', maxOutputTokens: 9 }] });
    expect(run.context.started).toEqual([]);
    expect(lastResults(run.history).c1?.text).toMatch(/cut off/);
  });
});

describe('running', () => {
  test('consecutive safe calls overlap, unsafe ones run alone, groups in order [G5.11][G8.5][G8.6]', async () => {
    const log: string[] = [];
    const traced = (name: string, traits: Partial<typeof read>) =>
      tool(name, {
        ...traits,
        execute: async (_input, { callId }) => {
          log.push(`+${callId}`);
          await new Promise((resolve) => setImmediate(resolve));
          log.push(`-${callId}`);
          return said(callId);
        },
      });
    const batch = calls(
      call('r1', 'r', { value: '1' }),
      call('r2', 'r', { value: '2' }),
      call('w1', 'w', { value: '1' }),
      call('w2', 'w', { value: '2' }),
      call('r3', 'r'),
    );
    const run = await play([batch, says('ok')], { tools: [traced('r', {}), traced('w', { effect: 'write', concurrencySafe: false })] });
    expect(log).toEqual(['+r1', '+r2', '-r1', '-r2', '+w1', '-w1', '+w2', '-w2', '+r3', '-r3']);
    expect(outline(run.history)[2]).toBe('tool: #r1 | #r2 | #w1 | #w2 | #r3');
  });

  test('safety is judged from the final input [G5.11][G5.15]', async () => {
    const judged: unknown[] = [];
    const shell = tool('shell', { effect: 'execute', concurrencySafe: (input) => (judged.push(input), true) });
    const hooks = { beforeTool: () => Promise.resolve({ input: { value: 'rewritten' } }) };
    await play([calls(call('c1', 'shell', { value: 'a' })), says('ok')], { tools: [shell], hooks });
    expect(judged).toEqual([{ value: 'rewritten' }]);
  });

  test('at most ten safe calls are in flight [G5.11]', async () => {
    let running = 0;
    let most = 0;
    const slow = tool('slow', {
      execute: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return said('ok');
      },
    });
    const run = await play([calls(...Array.from({ length: 25 }, (_, at) => call(`c${at}`, 'slow', { value: `${at}` }))), says('ok')], {
      tools: [slow],
    });
    expect(most).toBe(10);
    expect(run.context.finished).toHaveLength(25);
  });

  test('a tool that throws is an error result and the loop goes on', async () => {
    const broken = tool('broken', { execute: () => Promise.reject(new Error('secret path')) });
    const run = await play([calls(call('c1', 'broken')), says('ok')], { tools: [broken] });
    expect(lastResults(run.history).c1).toMatchObject({ is_error: true, text: 'The tool failed unexpectedly.' });
    expect(run.events).toContainEqual(
      expect.objectContaining({
        type: 'tool_settled',
        callId: 'c1',
        status: 'failed',
        text: 'The tool failed unexpectedly.',
        fault: new Error('secret path'),
      }),
    );
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('live output reaches the surface and not the model [G2.11]', async () => {
    const loud = tool('loud', { execute: (_input, { report }) => (report?.('half'), Promise.resolve(said('whole'))) });
    const run = await play([calls(call('c1', 'loud')), says('ok')], { tools: [loud] });
    expect(run.events).toContainEqual({ type: 'tool_output', callId: 'c1', chunk: 'half' });
    expect(lastResults(run.history).c1?.text).toBe('whole');
  });

  test('hooks run once per call and once per batch, before the output budget [G5.15]', async () => {
    const seen: string[] = [];
    const hooks = {
      afterTool: (_planned: unknown, result: { text: string }) => Promise.resolve({ text: `${result.text}!` }),
      afterBatch: (results: readonly { callId: string }[]) => (
        seen.push(results.map((result) => result.callId).join()),
        Promise.resolve({ text: 'note' })
      ),
    };
    const run = await play([calls(call('c1', 'read'), call('c2', 'nope')), says('ok')], { hooks });
    expect(seen).toEqual(['c1,c2']);
    expect(lastResults(run.history).c1?.text).toBe('read:{}!');
    expect(lastResults(run.history).c2?.text).toMatch(/note$/);
  });
});

test('a surface may end the loop with the results [G2.10][G8.32]', async () => {
  const run = await play([calls(call('c1', 'read'))], { policies: { onResults: () => 'end' } });
  expect(run.stop).toEqual({ reason: 'surface_ended' });
  expect(run.unrecorded.results.map((result) => result.callId)).toEqual(['c1']);
});

test('two prompts in one session go on from one history [G2.3][G8.39]', async () => {
  const first = await play([[text('one'), finish('stop')]]);
  const opening = { parts: [{ type: 'text', text: 'more' }], sendType: 'user' } as const;
  const second = await play([says('two')], { start: { history: [...first.history], opening } });
  expect(outline(second.client.requests[0]?.messages ?? [])).toEqual(['user: go', 'assistant: one', 'user: more']);
});
