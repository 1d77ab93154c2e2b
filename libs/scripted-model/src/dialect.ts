/** What one wire dialect must do; the server knows nothing else of it. */
import type { DialectName, ScriptedRequest, ScriptedToolCall, ScriptedUsage } from './script.js';

/** A response with every default filled in. */
export interface CompleteResponse {
  /** Unique per request body, equal for equal bodies. */
  readonly id: string;
  readonly model: string;
  readonly thought: readonly string[];
  readonly thoughtSignature: string;
  readonly text: readonly string[];
  readonly toolCalls: readonly CompleteToolCall[];
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'content_filter' | { readonly raw: string };
  readonly usage: ScriptedUsage | null;
}

export interface CompleteToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** The arguments as they are streamed. */
  readonly pieces: readonly string[];
}

/** A server-sent event. `output` frames are the chunks that faults count; `finish` carries the finish reason. */
export interface Frame {
  readonly phase: 'open' | 'output' | 'finish' | 'close';
  readonly data: string;
}

export type ParsedRequest = Omit<ScriptedRequest, 'index'> & { readonly stream: boolean };

export interface Dialect {
  readonly name: DialectName;
  /** Request path below `/v1`. */
  readonly path: string;
  /** Throws a `ZodError` for a body that is not of this dialect. */
  parse(body: unknown): ParsedRequest;
  /** The response as a stream. */
  frames(response: CompleteResponse): Frame[];
  /** The response as one JSON body. */
  document(response: CompleteResponse): unknown;
  /** An error inside a stream that has begun. */
  errorFrame(message: string): string;
  /** The body of a failed request. */
  errorDocument(status: number, message: string): unknown;
}

export function frame(phase: Frame['phase'], event: object): Frame {
  return { phase, data: `data: ${JSON.stringify(event)}\n\n` };
}

/** A frame whose event name is the `type` of its data, as the messages and responses dialects write it. */
export function namedFrame(phase: Frame['phase'], event: { readonly type: string } & Readonly<Record<string, unknown>>): Frame {
  return { phase, data: `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n` };
}

/** Cuts arguments into the number of pieces that the script asks for, at least one. */
export function splitArguments(call: ScriptedToolCall): { text: string; pieces: string[] } {
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
  const size = Math.max(1, Math.ceil(text.length / (call.pieces ?? 1)));
  const pieces: string[] = [];
  for (let from = 0; from < text.length; from += size) pieces.push(text.slice(from, from + size));
  return { text, pieces: pieces.length === 0 ? [''] : pieces };
}
