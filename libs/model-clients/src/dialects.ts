/** What differs between the dialects: the SDK's provider, its options, and how it wants a prompt. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { PromptStyle } from './prompt.js';
import type { ModelDialect } from './provider-config.js';
import { AnthropicMessagesFacts, ChatCompletionsFacts, OpenAIResponsesFacts, type WireFacts } from './wire-facts.js';

export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Record<string, string>;
  readonly fetch: typeof fetch;
}

export interface Dialect {
  /** Address of the vendor, where the dialect has one. */
  readonly vendorUrl: string | null;
  readonly style: PromptStyle;
  readonly providerOptions: SharedV4ProviderOptions;
  /** Completion tokens at most where the request does not say and the provider demands a number. */
  readonly defaultOutputTokens: number | undefined;
  connect(connection: Connection): (model: string) => LanguageModelV4;
  createFacts(): WireFacts;
}

/** The SDK demands a key; a server of one's own may not. */
const NO_KEY = 'none';

export const DIALECTS: Readonly<Record<ModelDialect, Dialect>> = {
  chat_completions: {
    vendorUrl: null,
    style: { marksToolErrors: false },
    providerOptions: {},
    defaultOutputTokens: undefined,
    connect: ({ baseUrl, apiKey, ...rest }) => {
      const provider = createOpenAICompatible({
        name: 'compatible',
        baseURL: baseUrl,
        includeUsage: true,
        ...(apiKey ? { apiKey } : {}),
        ...rest,
      });
      return (model) => provider.chatModel(model);
    },
    createFacts: () => new ChatCompletionsFacts(),
  },
  anthropic_messages: {
    vendorUrl: 'https://api.anthropic.com/v1',
    style: { marksToolErrors: true, cacheMarker: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
    providerOptions: {},
    defaultOutputTokens: 32_000,
    connect: ({ baseUrl, apiKey = NO_KEY, ...rest }) => {
      const provider = createAnthropic({ baseURL: baseUrl, apiKey, ...rest });
      return (model) => provider.languageModel(model);
    },
    createFacts: () => new AnthropicMessagesFacts(),
  },
  openai_responses: {
    vendorUrl: 'https://api.openai.com/v1',
    style: { marksToolErrors: false, strictTools: false },
    /** Our rows are the conversation: the provider stores none, and reasoning comes back encrypted. */
    providerOptions: { openai: { store: false } },
    defaultOutputTokens: undefined,
    connect: ({ baseUrl, apiKey = NO_KEY, ...rest }) => {
      const provider = createOpenAI({ baseURL: baseUrl, apiKey, ...rest });
      return (model) => provider.responses(model);
    },
    createFacts: () => new OpenAIResponsesFacts(),
  },
};
