import { describe, expect, test } from '@jest/globals';
import type { ApprovalAnswer, Permissions, PermissionVerdict } from './batch-ports.js';
import { MemoryJournal } from './testing/memory-journal.js';
import { lastResults, outline, play } from './testing/run.js';
import { call, calls, says } from './testing/scripted-client.js';
import type { TestContext } from './testing/tools.js';

const ALLOW: ApprovalAnswer = { decision: 'allow', always: false };
const two = calls(call('c1', 'write', { value: 'a' }), call('c2', 'write', { value: 'b' }));

describe('approvals', () => {
  test('all approvals of a batch are asked before the first launch [G5.1][G5.9][G8.7][G8.8]', async () => {
    const log: string[] = [];
    const permissions = answering((id) => (log.push(`ask ${id}`), ALLOW));
    const run = await play([two, says('ok')], {
      policies: { permissions },
      onEvent: (event) => void (event.type === 'tool_started' && log.push(`start ${event.callId}`)),
    });
    expect(log).toEqual(['ask c1', 'ask c2', 'start c1', 'start c2']);
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('a declined call says so, its siblings run and the loop goes on [G5.16][G8.7]', async () => {
    const permissions = answering((id) => (id === 'c1' ? { decision: 'deny', reason: 'Denied: too risky.' } : ALLOW));
    const run = await play([two, says('ok')], { policies: { permissions } });
    expect(run.context.started).toEqual(['c2']);
    expect(lastResults(run.history).c1).toMatchObject({ text: 'Denied: too risky.', is_error: true });
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('"always allow" settles siblings with the same grant, never one that needs interaction [G5.10]', async () => {
    const asked: string[] = [];
    const verdicts: Record<string, PermissionVerdict> = {
      c1: { decision: 'ask', grant: 'write', needsInteraction: false },
      c2: { decision: 'ask', grant: 'write', needsInteraction: false },
      c3: { decision: 'ask', grant: 'write', needsInteraction: true },
      c4: { decision: 'ask', grant: 'other', needsInteraction: false },
    };
    const permissions: Permissions<TestContext> = {
      check: (planned) => verdicts[planned.call.callId] ?? { decision: 'allow' },
      ask: (planned) => (asked.push(planned.call.callId), Promise.resolve({ decision: 'allow', always: true })),
    };
    const batch = calls(...['c1', 'c2', 'c3', 'c4'].map((id) => call(id, 'write', { value: id })));
    const run = await play([batch, says('ok')], { policies: { permissions } });
    expect(asked).toEqual(['c1', 'c3', 'c4']);
    expect(run.context.started).toEqual(['c1', 'c2', 'c3', 'c4']);
  });

  test('the response is sealed before anybody is asked [G7.1]', async () => {
    const journal = new MemoryJournal();
    const sealed: boolean[] = [];
    const permissions = answering(() => (sealed.push(journal.responses.length === 1), ALLOW));
    await play([two, says('ok')], { journal, policies: { permissions } });
    expect(sealed).toEqual([true, true]);
  });

  test('a cancel while an approval is open starts nothing and says so [G8.7][P6]', async () => {
    const stop = new AbortController();
    const permissions: Permissions<TestContext> = {
      check: () => ({ decision: 'ask', grant: 'g', needsInteraction: false }),
      ask: () => (stop.abort(), new Promise(() => undefined)),
    };
    const run = await play([two], { signal: stop.signal, policies: { permissions } });
    expect(run.stop).toEqual({ reason: 'cancelled', by: 'signal' });
    expect(run.context.started).toEqual([]);
    expect(lastResults(run.history).c1?.text).toMatch(/waited for approval/);
    expect(outline(run.history).at(-1)).toBe('tool: #c1 error | #c2 error');
  });
});

describe('parking', () => {
  test('an open approval parks before anything runs, and the decided call runs once on re-entry [G5.12][P7]', async () => {
    const journal = new MemoryJournal();
    let answer: ApprovalAnswer = { decision: 'open', waitsFor: 'approval-1' };
    const permissions = answering((id) => (id === 'c2' ? answer : ALLOW));
    const parked = await play([two], { journal, policies: { permissions } });
    expect(parked.stop).toEqual({ reason: 'parked', for: [{ kind: 'approval', callId: 'c2', waitsFor: 'approval-1' }] });
    expect(parked.context.started).toEqual([]);
    expect(parked.unsentResults).toBeUndefined();
    journal.settle(parked.unrecorded);

    answer = ALLOW;
    const resumed = await play([says('ok')], { journal, policies: { permissions }, start: journal.restart() });
    expect(resumed.stop).toEqual({ reason: 'completed' });
    expect(resumed.context.started).toEqual(['c1', 'c2']);
  });

  test('a tool whose answer comes later parks in the middle of its batch and is entered again there [G5.12][L26]', async () => {
    const journal = new MemoryJournal();
    const batch = calls(call('c1', 'write', { value: 'a' }), call('c2', 'question'), call('c3', 'write', { value: 'b' }));
    const parked = await play([batch], { journal });
    expect(parked.stop).toEqual({ reason: 'parked', for: [{ kind: 'result', callId: 'c2', waitsFor: 'user_answer' }] });
    expect(parked.context.started).toEqual(['c1', 'c2']);
    journal.settle(parked.unrecorded);
    expect([...journal.results.keys()]).toEqual(['c1']);

    const start = journal.restart(new Map([['c2', { text: 'blue', isError: false }]]));
    const resumed = await play([says('ok')], { journal, start });
    expect(resumed.context.started).toEqual(['c3']);
    expect(outline(resumed.history).slice(1)).toEqual([
      'assistant: write#c1 | question#c2 | write#c3',
      'tool: #c1 | #c2 | #c3',
      'assistant: ok',
    ]);
    expect(lastResults(resumed.history).c2?.text).toBe('blue');
  });

  test('a parked call that is still open parks again and asks nothing twice [G5.12]', async () => {
    const journal = new MemoryJournal();
    const parked = await play([calls(call('c1', 'question'))], { journal });
    journal.settle(parked.unrecorded);
    const start = journal.restart();
    const known = { results: new Map(), intended: new Set<string>(), waiting: new Map([['c1', 'user_answer']]) };
    const again = await play([], { journal, start: { ...start, known } });
    expect(again.stop).toEqual(parked.stop);
    expect(again.context.started).toEqual([]);
  });

  test('a known result of a turn-ending tool ends the turn on re-entry [G7.4]', async () => {
    const journal = new MemoryJournal({ at: 2, fault: 'after' });
    const batch = calls(call('c1', 'write', { value: 'a' }), call('c2', 'ask'));
    const died = await play([batch], { journal });
    expect(died.stop).toMatchObject({ reason: 'error', kind: 'persistence' });
    const start = journal.restart(new Map([['c2', { text: 'asked', isError: false }]]));
    const resumed = await play([], { journal, start });
    expect(resumed.stop).toEqual({ reason: 'tool_ended_turn', callId: 'c2', tool: 'ask' });
    expect(resumed.context.started).toEqual([]);
  });
});

function answering(answer: (callId: string) => ApprovalAnswer): Permissions<TestContext> {
  return {
    check: () => ({ decision: 'ask', grant: 'g', needsInteraction: false }),
    ask: (planned) => Promise.resolve(answer(planned.call.callId)),
  };
}
