import type { ModelClient, ModelEvent, ModelFailure, ModelMessage, ModelRequest, ToolCall, Usage } from '../model-port.js';
import { unifyFinishReason } from '../finish-reason.js';

/** Ends a scripted stream without a word, or keeps it silent until its signal aborts, or runs code in the middle of it. */
export type ScriptStep =
  ModelEvent | { readonly type: 'close' } | { readonly type: 'hang' } | { readonly type: 'do'; readonly run: () => unknown };
export type Script = readonly ScriptStep[];

export interface RecordedRequest extends Omit<ModelRequest, 'messages'> {
  /** The messages as they were when the request was sent. */
  readonly messages: readonly ModelMessage[];
}

export interface ScriptedClient extends ModelClient {
  readonly requests: RecordedRequest[];
}

/** A model that plays one script per request; a function is asked for the script of each request. */
export function scriptedClient(
  scripts: readonly Script[] | ((request: RecordedRequest, index: number) => Script),
  options: { readonly repeatsCallIds?: boolean } = {},
): ScriptedClient {
  const requests: RecordedRequest[] = [];
  return {
    ...options,
    requests,
    async *stream(request, { signal }) {
      const recorded = { ...request, messages: [...request.messages] };
      requests.push(recorded);
      const script = typeof scripts === 'function' ? scripts(recorded, requests.length - 1) : scripts[requests.length - 1];
      if (script === undefined) throw new Error(`no script for request ${requests.length}`);
      yield* play(script, signal);
    },
  };
}

async function* play(script: Script, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  for (const step of script) {
    if (signal.aborted) break;
    if (step.type === 'close') return;
    if (step.type === 'do') await step.run();
    else if (step.type === 'hang') await aborted(signal);
    else yield step;
  }
  if (signal.aborted) yield failure({ kind: 'aborted', message: 'aborted' });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export const text = (said: string): ModelEvent => ({ type: 'content', text: said });
export const thought = (said: string): ModelEvent => ({ type: 'thought', text: said });

/** A call event; arguments are given as a value, or as raw text. */
export function call(callId: string, name: string, args: unknown = {}, providerData?: ToolCall['providerData']): ModelEvent {
  const raw = typeof args === 'string' ? args : JSON.stringify(args);
  return { type: 'tool_call', call: { callId, name, arguments: raw, ...(providerData && { providerData }) } };
}

export function usage(inputTokens: number | null = 100, outputTokens: number | null = 10): Usage {
  return { inputTokens, outputTokens, cachedInputTokens: null, reasoningTokens: null };
}

export function finish(rawReason: string | null, used: Usage = usage()): ModelEvent {
  return { type: 'finished', reason: unifyFinishReason(rawReason), rawReason, usage: used };
}

export function failure(known: Partial<ModelFailure>): ModelEvent {
  const base = { kind: 'http', message: 'the request failed', status: null, retryAfterMs: null, retryable: false } as const;
  return { type: 'error', failure: { ...base, ...known } };
}

/** A whole response that says something and ends. */
export const says = (said: string): Script => [text(said), finish('stop')];
/** A whole response that makes calls. */
export const calls = (...made: readonly ModelEvent[]): Script => [...made, finish('tool_calls')];
