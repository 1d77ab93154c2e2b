import { expect, test } from '@jest/globals';
import type { ModelMessage } from '@echelon/agent-loop';
import { PromptConverter } from './prompt.js';

const user: ModelMessage = { role: 'user', parts: [{ type: 'text', text: 'go' }] };
const assistant: ModelMessage = { role: 'assistant', parts: [{ type: 'text', text: 'ok' }] };
const empty: ModelMessage = { role: 'assistant', parts: [{ type: 'text', text: '' }] };

test('a message and a list of tools are converted once, however long the conversation becomes', () => {
  const converter = new PromptConverter({ marksToolErrors: false });
  const tools = [{ name: 'read', description: 'Reads.', parameters: {} }];
  const first = converter.toPrompt({ model: 'm', system: 's', messages: [user], tools });
  const second = converter.toPrompt({ model: 'm', system: 's', messages: [user, assistant], tools });
  expect(second[1]).toBe(first[1]);
  expect(converter.toTools(tools)).toBe(converter.toTools(tools));
});

test('a cache marker stands on the system message and the last message only, and is not kept', () => {
  const marker = { anthropic: { cacheControl: { type: 'ephemeral' } } };
  const converter = new PromptConverter({ marksToolErrors: true, cacheMarker: marker });
  const marked = (messages: ModelMessage[]) =>
    converter.toPrompt({ model: 'm', system: 's', messages, tools: [] }).map(({ providerOptions }) => providerOptions === marker);
  expect(marked([user])).toEqual([true, true]);
  expect(marked([user, assistant])).toEqual([true, false, true]);
});

test('an empty assistant message is not sent', () => {
  const converter = new PromptConverter({ marksToolErrors: false });
  expect(converter.toPrompt({ model: 'm', system: '', messages: [user, empty], tools: [] })).toHaveLength(1);
});
