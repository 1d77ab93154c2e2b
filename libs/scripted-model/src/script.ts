/**
 * What a scripted model is asked and what it may say: plain data, the same for every dialect.
 *
 * S1  A script sees only what the request carries, so the same request gets the same answer: after a crash, a retry
 *     or a restart of the server.
 */

export type DialectName = 'chat_completions' | 'openai_responses' | 'anthropic_messages';

export interface ScriptedMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly toolResults: readonly { readonly id: string; readonly text: string }[];
}

/** A model request in one form for all dialects. */
export interface ScriptedRequest {
  readonly dialect: DialectName;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ScriptedMessage[];
  /** Names of the offered tools. */
  readonly tools: readonly string[];
  /** Number of this HTTP request on this server, from 0. */
  readonly index: number;
}

export interface ScriptedToolCall {
  readonly name: string;
  /** An object is sent as JSON; a string is sent as it is, valid or not. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
  /** Absent: derived from the request; an empty string is sent as it is. */
  readonly id?: string;
  /** Number of chunks that carry the arguments; 1 if absent. */
  readonly pieces?: number;
}

/** In the words of chat-completions, translated for the other dialects; `raw` is sent as it is. */
export type ScriptedFinish = 'stop' | 'tool_calls' | 'length' | 'content_filter' | { readonly raw: string };

export interface ScriptedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/**
 * What goes wrong. A chunk is one piece of text, thought or arguments; `afterChunks: 0` is after the headers and before
 * anything else, a number past the end is just before the finish. Without `afterChunks`: before the status line.
 */
export type ScriptedFault =
  /** Answers with a status instead of a stream. */
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Breaks the connection; `afterBytes` counts bytes of the body. */
  | { readonly kind: 'drop'; readonly afterChunks?: number; readonly afterBytes?: number }
  /** Says nothing more until the client goes away or the server closes. */
  | { readonly kind: 'silence'; readonly afterChunks?: number }
  /** Waits for a promise, so that a test holds a response and releases it. */
  | { readonly kind: 'hold'; readonly until: Promise<unknown>; readonly afterChunks?: number }
  /** Ends the body in order, without finish or closing events. */
  | { readonly kind: 'end'; readonly afterChunks: number }
  /** Writes bytes as they are. */
  | { readonly kind: 'raw'; readonly afterChunks: number; readonly data: string }
  /** Sends the dialect's error event; the stream goes on. */
  | { readonly kind: 'error'; readonly afterChunks: number; readonly message: string }
  | { readonly kind: 'missing_finish' }
  | { readonly kind: 'duplicate_finish' }
  /** Sends everything and leaves the body open until the client goes away. */
  | { readonly kind: 'open_end' };

/** One response of the model. Text and thought given as a list are streamed as one chunk each. */
export interface ScriptedResponse {
  readonly thought?: string | readonly string[];
  /** Opaque signature of the thought; `scripted-signature` if absent. Chat-completions has none. */
  readonly thoughtSignature?: string;
  readonly text?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Absent: `tool_calls` if there are calls, else `stop`. */
  readonly finish?: ScriptedFinish;
  /** Absent: estimated from lengths; `null`: not told. */
  readonly usage?: ScriptedUsage | null;
  readonly faults?: readonly ScriptedFault[];
  /** Milliseconds between chunks, for people who watch; 0 if absent. */
  readonly paceMs?: number;
}

export type Script = (request: ScriptedRequest) => ScriptedResponse | Promise<ScriptedResponse>;
