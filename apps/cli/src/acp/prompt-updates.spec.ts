import { expect, test } from '@jest/globals';
import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { PromptUpdates } from './prompt-updates.js';

const NO_USAGE = { inputTokens: null, outputTokens: null, cachedInputTokens: null, reasoningTokens: null };

function watch(takesNotices: boolean, send?: (update: SessionUpdate) => Promise<void>) {
  const sent: SessionUpdate[] = [];
  const note = (update: SessionUpdate): Promise<void> => {
    sent.push(update);
    return send?.(update) ?? Promise.resolve();
  };
  return { sent, updates: new PromptUpdates({ send: note, folder: '/work', todos: () => [], contextWindow: undefined, takesNotices }) };
}

test('an attempt that said nothing is abandoned in silence; one that did is declared void, by a notice where there are notices', () => {
  const { sent, updates } = watch(true);
  updates.onEvent({ type: 'attempt_abandoned' });
  expect(sent).toEqual([]);
  updates.onEvent({ type: 'content', text: 'Half' });
  updates.onEvent({ type: 'attempt_abandoned' });
  expect(sent.at(-1)).toMatchObject({ sessionUpdate: 'notice', severity: 'info' });
});

test('a reply that is complete is not void when a later attempt is', () => {
  const { sent, updates } = watch(true);
  updates.onEvent({ type: 'content', text: 'Whole' });
  updates.onEvent({ type: 'finished', reason: 'tool_calls', rawReason: null, usage: NO_USAGE });
  updates.onEvent({ type: 'attempt_abandoned' });
  expect(sent).toHaveLength(1);
  expect(updates.usage).toBeNull();
});

test('what hooks and fallbacks say is shown only where there are notices', () => {
  for (const takesNotices of [true, false]) {
    const { sent, updates } = watch(takesNotices);
    updates.onEvent({ type: 'model_fallback', from: 'big', to: 'small' });
    updates.onEvent({ type: 'hook_message', hook: 'stop', text: 'Run the tests.' });
    expect(sent.map(({ sessionUpdate }) => sessionUpdate)).toEqual(takesNotices ? ['notice', 'notice'] : []);
  }
});

test('live output waits for an editor that is slow, keeps the newest text, and ends with the call', async () => {
  const slow = Promise.withResolvers<void>();
  const { sent, updates } = watch(false, ({ sessionUpdate }) => (sessionUpdate === 'tool_call' ? Promise.resolve() : slow.promise));
  updates.calls.announce([{ callId: 'c1', name: 'run_command', arguments: '{"command":"make"}' }]);
  for (const chunk of ['a', 'b', 'c']) updates.onEvent({ type: 'tool_output', callId: 'c1', chunk });
  expect(sent.slice(1)).toMatchObject([{ content: [{ content: { text: 'a' } }] }]);
  updates.onEvent({ type: 'tool_settled', callId: 'c1', status: 'succeeded', text: 'abc' });
  slow.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent.slice(2)).toMatchObject([{ status: 'completed', content: [{ content: { text: 'abc' } }] }]);
});

test('a result that the batch changed is shown as the model reads it, and a repeated call as failed', () => {
  const { sent, updates } = watch(false);
  updates.calls.announce([{ callId: 'c1', name: 'read_file', arguments: '{"path":"a.txt"}' }]);
  updates.onEvent({ type: 'tool_settled', callId: 'c1', status: 'succeeded', text: 'long' });
  const result = { name: 'read_file', isError: false, endsTurn: false };
  updates.calls.conclude([
    { ...result, callId: 'c1', status: 'succeeded', text: 'cut' },
    { ...result, callId: 'c2', status: 'duplicate', text: 'Duplicate.', isError: true },
  ]);
  expect(sent.slice(2)).toMatchObject([
    { toolCallId: 'c1', content: [{ content: { text: 'cut' } }] },
    { sessionUpdate: 'tool_call', toolCallId: 'c2', title: 'read_file' },
    { toolCallId: 'c2', status: 'failed' },
  ]);
});
