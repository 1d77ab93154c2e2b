import { describe, expect, test } from '@jest/globals';
import { scriptByAgent, scriptByPrompt, type ScriptedMessage, type ScriptedRequest } from './index.js';

const user = (text: string): ScriptedMessage => ({ role: 'user', text, toolCalls: [], toolResults: [] });
const assistant = (text = 'ok'): ScriptedMessage => ({ role: 'assistant', text, toolCalls: [], toolResults: [] });
const request = (messages: ScriptedMessage[], system = ''): ScriptedRequest => ({
  dialect: 'chat_completions',
  model: 'scripted',
  system,
  messages,
  tools: [],
  index: 0,
});

describe('scriptByAgent', () => {
  const script = scriptByAgent({ '[root]': [{ text: 'r0' }, () => ({ text: 'r1' })], '[child]': (seen) => ({ text: seen.system }) });

  test('the marker that stands first in the first user message chooses the agent', async () => {
    expect(await script(request([user('[root] ask [child]')]))).toEqual({ text: 'r0' });
  });

  test('a marker of the system prompt counts when the prompt has none', async () => {
    expect(await script(request([user('go')], 'you are [child]'))).toEqual({ text: 'you are [child]' });
  });

  test('the step is the number of assistant messages, and after the last the agent is done', async () => {
    expect(await script(request([user('[root]'), assistant()]))).toEqual({ text: 'r1' });
    expect(await script(request([user('[root]'), assistant(), user('more'), assistant()]))).toMatchObject({
      text: 'scripted: this agent has no further step.',
    });
  });

  test('an unknown agent is an error', () => {
    expect(() => script(request([user('who')]))).toThrow('no agent is known');
  });
});

describe('scriptByPrompt', () => {
  const script = scriptByPrompt([
    { prompt: 'start', steps: [{ text: 's0' }, { text: 's1' }] },
    { prompt: 'asks', steps: [{ text: 'a0' }] },
  ]);

  test('the last known prompt chooses the rule and the assistant messages after it the step', async () => {
    expect(await script(request([user('start'), assistant()]))).toEqual({ text: 's1' });
    expect(await script(request([user('start'), assistant(), user('child asks')]))).toEqual({ text: 'a0' });
  });

  test('a prompt that no rule knows does not restart the steps', async () => {
    expect(await script(request([user('start'), assistant(), user('a lead')]))).toEqual({ text: 's1' });
    expect(() => script(request([user('other')]))).toThrow('no rule');
  });
});
