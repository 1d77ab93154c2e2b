/**
 * The model port: one request to one model, streamed as typed events. Adapters live in `model-clients`.
 *
 * M1  One call of `stream` is one HTTP request: an adapter never retries.
 * M2  Text of a message is what the provider said; nothing is repaired. Arguments of a call stay raw.
 * M3  A stream ends with `finished` or `error`, or it just ends (the round then treats it as interrupted).
 */

/** Version of the stored form of message parts; raised when a part changes its meaning. */
export const MESSAGE_PARTS_VERSION = 1;

/** Opaque data that a provider wants back unchanged, such as a thinking signature; keyed by provider. */
export type ProviderData = Readonly<Record<string, unknown>>;

export type TextPart = { readonly type: 'text'; readonly text: string; readonly provider_data?: ProviderData };
export type ThoughtPart = { readonly type: 'thought'; readonly text: string; readonly provider_data?: ProviderData };
export type ToolCallPart = {
  readonly type: 'tool_call';
  readonly call_id: string;
  readonly name: string;
  /** Raw JSON text as the model wrote it. */
  readonly arguments: string;
  readonly provider_data?: ProviderData;
};
export type ToolResultPart = {
  readonly type: 'tool_result';
  readonly call_id: string;
  readonly name: string;
  readonly text: string;
  readonly is_error: boolean;
};

/** A message in our own provider-neutral form; this is what is stored and what a model's history is made of. */
export type ModelMessage =
  | { readonly role: 'user'; readonly parts: readonly TextPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly (TextPart | ThoughtPart | ToolCallPart)[] }
  | { readonly role: 'tool'; readonly parts: readonly ToolResultPart[] };

/** What a model is told of a tool. `parameters` is a JSON Schema object. */
export interface ToolSpecification {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpecification[];
  /** Completion tokens at most; absent: the provider's default. */
  readonly maxOutputTokens?: number;
}

export type UnifiedFinishReason = 'stop' | 'tool_calls' | 'output_limit' | 'content_filtered' | 'tool_format' | 'interrupted' | 'other';

/** Tokens of one request; `null` where the provider does not say. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedInputTokens: number | null;
  readonly reasoningTokens: number | null;
}

export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  /** Raw JSON text. */
  readonly arguments: string;
  readonly providerData?: ProviderData;
}

/** Why a request failed, as far as it can be told; `retryable` means: the same request may succeed later. */
export interface ModelFailure {
  readonly kind: 'http' | 'connection' | 'timeout' | 'protocol' | 'aborted' | 'configuration';
  readonly message: string;
  readonly status: number | null;
  /** `Retry-After` of the response in milliseconds. */
  readonly retryAfterMs: number | null;
  readonly retryable: boolean;
}

export type ModelEvent =
  | { readonly type: 'content'; readonly text: string; readonly providerData?: ProviderData }
  | { readonly type: 'thought'; readonly text: string; readonly providerData?: ProviderData }
  | { readonly type: 'tool_call_preparation'; readonly callId: string; readonly name: string }
  | { readonly type: 'tool_call'; readonly call: ToolCall }
  | { readonly type: 'finished'; readonly reason: UnifiedFinishReason; readonly rawReason: string | null; readonly usage: Usage }
  | { readonly type: 'error'; readonly failure: ModelFailure };

export interface ModelClient {
  /** Set where the ids of calls are not unique across responses (local engines restart at `call_0`): they become turn, round, index. */
  readonly repeatsCallIds?: boolean;
  /** Streams one response. Aborting `signal` ends the HTTP request; the stream then ends with an `error` of kind `aborted`. */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent>;
}
