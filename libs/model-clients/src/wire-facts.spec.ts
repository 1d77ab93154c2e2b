import { describe, expect, test } from '@jest/globals';
import { AnthropicMessagesFacts, ChatCompletionsFacts, OpenAIResponsesFacts } from './wire-facts.js';

const chunk = (delta: object, finish_reason: string | null = null) => ({ choices: [{ delta, finish_reason }] });
const call = (id: string | undefined, index?: number, name: string | undefined = 'read') => ({ id, index, function: { name } });

describe('chat-completions facts', () => {
  test('an id that the SDK could use is the wire id', () => {
    const facts = new ChatCompletionsFacts();
    facts.read(chunk({ tool_calls: [call('a', 0)] }));
    expect(facts.findCallId('a')).toBe('a');
  });

  test('made-up ids lead back to repeated and empty wire ids, in the order of the calls', () => {
    const facts = new ChatCompletionsFacts();
    facts.read(chunk({ tool_calls: [call('a', 0)] }));
    facts.read(chunk({ tool_calls: [call('a', 1), call('', 2), call(undefined)] }));
    expect(['made-1', 'made-2', 'made-3', 'made-1'].map((id) => facts.findCallId(id))).toEqual(['a', '', '', 'a']);
  });

  test('an id that comes before its name is kept', () => {
    const facts = new ChatCompletionsFacts();
    facts.read(chunk({ tool_calls: [{ id: 'a', index: 0, function: { arguments: '' } }] }));
    facts.read(chunk({ tool_calls: [call(undefined, 0)] }));
    expect(facts.findCallId('a')).toBe('a');
  });

  test('the first finish reason counts, and a refusal is one', () => {
    const facts = new ChatCompletionsFacts();
    expect(facts.finishReason).toBeNull();
    facts.read(chunk({ refusal: 'no' }));
    facts.read(chunk({}, 'stop'));
    facts.read(chunk({}, 'length'));
    expect(facts.finishReason).toBe('refusal');
  });

  test('events of another form are nothing', () => {
    const facts = new ChatCompletionsFacts();
    for (const event of [null, 'x', {}, { choices: [] }, { choices: [{ delta: null }] }]) facts.read(event);
    expect(facts.finishReason).toBeNull();
  });
});

test('messages: the first stop reason counts', () => {
  const facts = new AnthropicMessagesFacts();
  facts.read({ type: 'message_delta', delta: { stop_reason: null } });
  facts.read({ type: 'message_delta', delta: { stop_reason: 'max_tokens' } });
  facts.read({ type: 'message_delta', delta: { stop_reason: 'end_turn' } });
  expect(facts.finishReason).toBe('max_tokens');
});

describe('responses facts', () => {
  test('a completed response says completed, or refusal if it refused', () => {
    const facts = new OpenAIResponsesFacts();
    facts.read({ type: 'response.completed', response: {} });
    expect(facts.finishReason).toBe('completed');
    facts.read({ type: 'response.refusal.delta', delta: 'no' });
    expect(facts.finishReason).toBe('refusal');
  });

  test('an incomplete response says why', () => {
    const facts = new OpenAIResponsesFacts();
    facts.read({ type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } });
    expect(facts.finishReason).toBe('max_output_tokens');
  });
});
