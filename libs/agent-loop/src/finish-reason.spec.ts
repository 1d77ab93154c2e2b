import { expect, test } from '@jest/globals';
import { joinFinish, unifyFinishReason, type FinishedEvent } from './finish-reason.js';
import { isUnfinishedJson } from './truncation.js';
import { printsToolMarkup } from './tool-markup.js';
import { usage } from './testing/scripted-client.js';

test.each([
  ['stop', ['stop', 'end_turn', 'stop_sequence', 'STOP', 'completed']],
  ['tool_calls', ['tool_calls', 'tool_use', 'function_call']],
  ['output_limit', ['length', 'max_tokens', 'MAX_TOKENS', 'incomplete: max_output_tokens', 'model_context_window_exceeded']],
  ['content_filtered', ['content_filter', 'SAFETY', 'RECITATION', 'refusal', 'guardrail_intervened']],
  ['tool_format', ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL']],
  ['interrupted', [null, '']],
  ['other', ['eos', 'constructor', 'pause_turn']],
] as const)('the table says %s [G4.4]', (unified, raws) => {
  for (const raw of raws) expect(unifyFinishReason(raw)).toBe(unified);
});

test.each([
  ['the first counts', 'stop', 'length', 'stop'],
  ['a missing one is filled in', null, 'stop', 'stop'],
  ['a length stays', 'length', 'stop', 'length'],
])('of a repeated finish %s [G4.4]', (_name, first, next, kept) => {
  expect(joinFinish(finished(first), finished(next)).rawReason).toBe(kept);
});

test('usage that comes with a later finish is taken', () => {
  const joined = joinFinish({ ...finished('stop'), usage: usage(null, null) }, { ...finished(null), usage: usage(7, 8) });
  expect(joined).toMatchObject({ rawReason: 'stop', usage: { inputTokens: 7, outputTokens: 8 } });
});

test.each([
  ['{"a":"b', true],
  ['{"a":{"b":1}', true],
  ['{"a":"}\\"', true],
  ['{"a":[1,2', true],
  ['{"a":"}"}', false],
  ['{"a": b,}', false],
  ['', false],
])('%s is unfinished: %s [G4.5]', (text, unfinished) => {
  expect(isUnfinishedJson(text)).toBe(unfinished);
});

test.each([
  ['<tool_call>{"name": "read"}</tool_call>', true],
  ['Let me look.\n[TOOL_CALLS] read {}', true],
  ['<function=read>', true],
  ['<tool_call> is what some models print', false],
  ['Use `<tool_call>` with read', false],
])('%s is printed tool markup: %s', (text, markup) => {
  expect(printsToolMarkup(text, ['read'])).toBe(markup);
});

function finished(rawReason: string | null): FinishedEvent {
  return { type: 'finished', reason: unifyFinishReason(rawReason), rawReason, usage: usage() };
}
