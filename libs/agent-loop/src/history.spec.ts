import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pairHistory, type ModelMessage, type ToolCallPart, type ToolResultPart } from './index.js';

const called = (...ids: string[]): ModelMessage => ({ role: 'assistant', parts: ids.map(toCall) });
const answered = (...ids: string[]): ModelMessage => ({ role: 'tool', parts: ids.map((id) => toResult(id)) });
const user: ModelMessage = { role: 'user', parts: [{ type: 'text', text: 'hi' }] };

test('a paired history is returned as it is, whatever the order inside a message [G7.11]', () => {
  const history = [user, called('a', 'b'), answered('b', 'a'), user];
  expect(pairHistory(history)).toBe(history);
});

test.each<[string, ModelMessage[], ModelMessage[]]>([
  ['a misplaced result is moved', [called('a'), user, answered('a')], [called('a'), answered('a'), user]],
  ['a result before its call is moved', [answered('a'), called('a')], [called('a'), answered('a')]],
  ['a duplicate is dropped', [called('a'), answered('a'), answered('a')], [called('a'), answered('a')]],
  ['an orphan is dropped', [user, answered('x'), user], [user, user]],
  ['results of one response are joined', [called('a', 'b'), answered('a'), answered('b')], [called('a', 'b'), answered('a', 'b')]],
])('%s [G7.11]', (_name, history, paired) => {
  expect(pairHistory(history)).toEqual(paired);
});

test('a missing result is made up as an error [G7.11]', () => {
  const [, results] = pairHistory([called('a'), user]);
  expect(results).toEqual({ role: 'tool', parts: [{ ...toResult('a'), text: 'No result was recorded for this call.', is_error: true }] });
});

test('whatever the history, every call has exactly one result right after it, and pairing again changes nothing [G7.11]', () => {
  const ids = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 });
  const message = fc.oneof(
    fc.constant(user),
    ids.map((list) => called(...list)),
    ids.map((list) => answered(...list)),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (history) => {
      const paired = pairHistory(history);
      paired.forEach((one, at) => {
        if (one.role !== 'assistant') return;
        const results = paired[at + 1];
        expect(results?.role).toBe('tool');
        expect(idsOf(results).sort()).toEqual(idsOf(one).sort());
      });
      expect(paired.filter((one) => one.role === 'tool')).toHaveLength(paired.filter((one) => one.role === 'assistant').length);
      expect(pairHistory(paired)).toBe(paired);
    }),
    { numRuns: 300 },
  );
});

function toCall(id: string): ToolCallPart {
  return { type: 'tool_call', call_id: id, name: 't', arguments: '{}' };
}

function toResult(id: string): ToolResultPart {
  return { type: 'tool_result', call_id: id, name: 't', text: 'r', is_error: false };
}

function idsOf(message: ModelMessage | undefined): string[] {
  return (message?.parts ?? []).flatMap((part) => ('call_id' in part ? [part.call_id] : []));
}
