import { describe, expect, test } from '@jest/globals';
import type { ModelEvent } from '@echelon/agent-loop';
import { createModelClient, providersFromEnv } from './index.js';

describe('providersFromEnv', () => {
  test('an empty environment names what is missing', async () => {
    const providers = providersFromEnv({});
    expect(Object.fromEntries(Object.entries(providers).map(([name, { unavailable }]) => [name, unavailable]))).toEqual({
      openai: 'OPENAI_API_KEY is not set',
      anthropic: 'ANTHROPIC_API_KEY is not set',
      compatible: 'ECHELON_MODEL_BASE_URL is not set',
      scripted: 'ECHELON_SCRIPTED_MODEL_URL is not set',
    });
    const request = { model: 'm', system: '', messages: [], tools: [] };
    const events = await collect(createModelClient(providers.openai).stream(request, { signal: new AbortController().signal }));
    expect(events).toMatchObject([{ type: 'error', failure: { kind: 'configuration', message: 'OPENAI_API_KEY is not set' } }]);
  });

  test('keys and addresses come from their variables', () => {
    const providers = providersFromEnv({
      OPENAI_API_KEY: 'o',
      OPENAI_BASE_URL: 'http://o/v1',
      ANTHROPIC_API_KEY: 'a',
      ECHELON_MODEL_BASE_URL: 'http://c/v1',
      ECHELON_MODEL_API_KEY: 'c',
      ECHELON_MODEL_REPEATS_CALL_IDS: 'true',
      ECHELON_SCRIPTED_MODEL_URL: 'http://s/v1',
    });
    expect(providers).toEqual({
      openai: { dialect: 'openai_responses', apiKey: 'o', baseUrl: 'http://o/v1' },
      anthropic: { dialect: 'anthropic_messages', apiKey: 'a' },
      compatible: { dialect: 'chat_completions', apiKey: 'c', baseUrl: 'http://c/v1', repeatsCallIds: true },
      scripted: { dialect: 'chat_completions', baseUrl: 'http://s/v1' },
    });
    expect(createModelClient(providers.compatible).repeatsCallIds).toBe(true);
  });

  test.each([
    ['http://a', 'http://a/v1'],
    ['http://a/', 'http://a/v1'],
    ['http://a/v1', 'http://a/v1'],
  ])('ANTHROPIC_BASE_URL %s is %s', (value, baseUrl) => {
    expect(providersFromEnv({ ANTHROPIC_BASE_URL: value }).anthropic).toEqual({ dialect: 'anthropic_messages', baseUrl });
  });

  test('a base URL that is none is a configuration failure', async () => {
    const client = createModelClient({ dialect: 'chat_completions', baseUrl: 'no url' });
    const events = await collect(
      client.stream({ model: 'm', system: '', messages: [], tools: [] }, { signal: new AbortController().signal }),
    );
    expect(events).toMatchObject([{ type: 'error', failure: { kind: 'configuration' } }]);
  });
});

async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
