import { describe, expect, test } from '@jest/globals';
import { canonicalArguments } from './call-identity.js';
import { MemoryJournal } from './testing/memory-journal.js';
import { outline, play } from './testing/run.js';
import { call, calls, says, type Script } from './testing/scripted-client.js';
import { said, tool } from './testing/tools.js';

let answers = 0;
const changing = tool('changing', { execute: () => Promise.resolve(said(`${answers++}`)) });
const steady = tool('steady', { execute: () => Promise.resolve(said('same')) });
const rounds = (name: string, count: number, args: (at: number) => unknown = () => ({})): Script[] =>
  Array.from({ length: count }, (_, at) => calls(call(`c${at}`, name, args(at))));

describe('loop protection', () => {
  test('the fifth identical call does not run, and history stays paired [G6.6][G8.25]', async () => {
    const run = await play(rounds('changing', 5), { tools: [changing] });
    expect(run.stop).toMatchObject({ reason: 'loop_detected' });
    expect(run.context.started).toHaveLength(4);
    expect(outline(run.history).at(-1)).toBe('tool: #c4 error');
  });

  test('three identical calls with identical results are the last [G6.6][G8.25]', async () => {
    const run = await play(rounds('steady', 3), { tools: [steady] });
    expect(run.stop).toMatchObject({ reason: 'loop_detected' });
    expect(run.context.started).toHaveLength(3);
  });

  test('inside one response they count, too; what follows does not run [G6.6]', async () => {
    const batch = calls(...Array.from({ length: 7 }, (_, at) => call(`c${at}`, 'changing')));
    const run = await play([batch], { tools: [changing] });
    expect(run.context.started).toEqual(['c0', 'c1', 'c2', 'c3']);
    expect(outline(run.history).at(-1)).toBe('tool: #c0 | #c1 | #c2 | #c3 | #c4 error | #c5 error | #c6 error');
  });

  test('different arguments are never identical [G6.8]', async () => {
    const run = await play([...rounds('steady', 12, (at) => ({ value: `${at % 2}` })), says('ok')], { tools: [steady] });
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('alternating calls are no loop unless a profile says so [G6.7][G8.26]', async () => {
    const alternating = Array.from({ length: 10 }, (_, at) => calls(call(`c${at}`, at % 2 === 0 ? 'steady' : 'changing')));
    const run = await play([...alternating, says('ok')], { tools: [steady, changing] });
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('a polling tool may be called for as long as it takes [G6.8][G8.27]', async () => {
    const poll = tool('poll', { polling: true, execute: () => Promise.resolve(said('not yet')) });
    const run = await play([...rounds('poll', 20), says('ok')], { tools: [poll] });
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('a Lead starts the counts over [G6.8]', async () => {
    const journal = new MemoryJournal();
    const lead = { type: 'do', run: () => journal.leads.push('look again') } as const;
    const first = rounds('steady', 2).map((script) => [lead, ...script]);
    const second = [calls(call('d0', 'steady')), calls(call('d1', 'steady'))];
    const run = await play([...first, ...second, says('ok')], { journal, tools: [steady] });
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('a continuation gets a fresh budget [G6.5]', async () => {
    let left = 1;
    const hooks = { stop: () => Promise.resolve(left-- > 0 ? { block: 'go on' } : null) };
    const again = rounds('steady', 2).map((_, at) => calls(call(`d${at}`, 'steady')));
    const run = await play([...rounds('steady', 2), says('done'), ...again, says('done')], { hooks, tools: [steady] });
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('the calls of an abandoned attempt do not count [G6.8]', async () => {
    const dropped: Script = [call('x', 'steady'), { type: 'close' }];
    const run = await play([...rounds('steady', 2), dropped, says('ok')], { tools: [steady] });
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('a resumed turn goes on counting [G6.6][G7.9]', async () => {
    const journal = new MemoryJournal({ at: 4, fault: 'after' });
    await play(rounds('steady', 2), { journal, tools: [steady] });
    const run = await play(rounds('steady', 3).slice(2), { journal, tools: [steady], start: journal.restart() });
    expect(run.stop).toMatchObject({ reason: 'loop_detected' });
  });
});

test.each([
  ['{"b":1,"a":[2,{"d":1,"c":2}]}', '{ "a": [2, {"c": 2, "d": 1}], "b": 1.0 }', true],
  ['', '{}', true],
  ['{"id":9007199254740993}', '{"id":9007199254740992}', false],
  ['{"a":1}', '[["a",1]]', false],
  ['{"a":[1,2]}', '{"a":[2,1]}', false],
  ['not json', 'not  json', false],
])('%s and %s are the same arguments: %s [G6.8]', (one, other, same) => {
  expect(canonicalArguments(one) === canonicalArguments(other)).toBe(same);
});
