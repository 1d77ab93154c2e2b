/** How a model provider is reached. */

export type ModelDialect = 'chat_completions' | 'anthropic_messages' | 'openai_responses';

export interface ProviderConfig {
  readonly dialect: ModelDialect;
  /** Base URL up to and including the version, such as `http://127.0.0.1:8000/v1`; absent: the vendor's own. */
  readonly baseUrl?: string;
  /** Required by the vendors' own addresses; with a base URL of one's own it is optional. */
  readonly apiKey?: string;
  /** Sent with every request; their values are treated as secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts?: {
    /** Milliseconds from sending the request to the first event of its stream; 120,000 if absent. */
    readonly firstEventMs?: number;
  };
  /** The provider gives the same call ids again in later responses, as some local engines do. */
  readonly repeatsCallIds?: boolean;
  /** Why this provider cannot be used, in words for an operator; every request then fails with it. */
  readonly unavailable?: string;
}
