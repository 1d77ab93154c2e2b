/** One response of a model, put together from its events and judged by how it ended. */
import { joinFinish, type FinishedEvent } from './finish-reason.js';
import type { IdentifiedCall } from './call-result.js';
import type { ModelEvent, ModelFailure, ModelMessage, ProviderData, ToolCall, UnifiedFinishReason, Usage } from './model-port.js';
import type { RetryCause } from './loop-events.js';

export type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/** A request of the same round whose output was thrown away; it still cost tokens. */
export interface AbandonedAttempt {
  readonly model: string;
  readonly cause: RetryCause | 'fallback';
  readonly failure: ModelFailure | null;
  readonly usage: Usage | null;
}

export interface ModelResponse {
  readonly model: string;
  /** What history keeps of it; `null` when nothing was said. Calls that may not run are not part of it. */
  readonly message: AssistantMessage | null;
  readonly text: string;
  /** The calls that may run, in the order of the response. */
  readonly calls: readonly IdentifiedCall[];
  /** Calls that came and may never run. */
  readonly withheldCalls: number;
  readonly reason: UnifiedFinishReason;
  readonly rawReason: string | null;
  readonly usage: Usage;
  /** False for partial text of a stream that was cut or dropped. */
  readonly complete: boolean;
  readonly abandoned: readonly AbandonedAttempt[];
}

export const UNKNOWN_USAGE: Usage = { inputTokens: null, outputTokens: null, cachedInputTokens: null, reasoningTokens: null };

/** A stored response without calls, as its message tells it; what it used was counted when it came. */
export function recallResponse(message: AssistantMessage, { model, reason }: Pick<ModelResponse, 'model' | 'reason'>): ModelResponse {
  const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return {
    model,
    message,
    text,
    calls: [],
    withheldCalls: 0,
    reason,
    rawReason: null,
    usage: UNKNOWN_USAGE,
    complete: true,
    abandoned: [],
  };
}

interface OpenPart {
  readonly type: 'text' | 'thought';
  text: string;
  provider_data?: ProviderData;
}

/** Collects the events of one attempt. A part ends where the type changes or after provider data came with it. */
export class ResponseCollector {
  readonly calls: ToolCall[] = [];
  finish: FinishedEvent | null = null;
  failure: ModelFailure | null = null;
  /** Something reached the surface, so the request may not silently be repeated. */
  emitted = false;
  private readonly parts: (OpenPart | { readonly type: 'call'; readonly index: number })[] = [];

  add(event: ModelEvent): void {
    switch (event.type) {
      case 'content':
        return this.addText('text', event.text, event.providerData);
      case 'thought':
        return this.addText('thought', event.text, event.providerData);
      case 'tool_call_preparation':
        this.emitted = true;
        return;
      case 'tool_call':
        this.emitted = true;
        this.parts.push({ type: 'call', index: this.calls.length });
        this.calls.push(event.call);
        return;
      case 'finished':
        this.finish = joinFinish(this.finish, event);
        return;
      case 'error':
        this.failure = event.failure;
    }
  }

  /** The text of the response without thoughts. */
  get text(): string {
    let text = '';
    for (const part of this.parts) if (part.type === 'text') text += part.text;
    return text;
  }

  /** The assistant message with the given calls in the places of the collected ones; `null` if it would be empty. */
  message(calls: readonly ToolCall[]): AssistantMessage | null {
    const parts: AssistantMessage['parts'][number][] = [];
    for (const part of this.parts) {
      if (part.type !== 'call') {
        parts.push(part);
        continue;
      }
      const call = calls[part.index];
      if (call !== undefined) parts.push(toCallPart(call));
    }
    return parts.length === 0 ? null : { role: 'assistant', parts };
  }

  private addText(type: 'text' | 'thought', text: string, providerData: ProviderData | undefined): void {
    if (text !== '') this.emitted = true;
    if (text === '' && providerData === undefined) return;
    let part = this.parts.at(-1);
    if (part === undefined || part.type !== type || part.provider_data !== undefined) {
      part = { type, text: '' };
      this.parts.push(part);
    }
    part.text += text;
    if (providerData !== undefined) part.provider_data = providerData;
  }
}

function toCallPart(call: ToolCall): AssistantMessage['parts'][number] {
  const part = { type: 'tool_call', call_id: call.callId, name: call.name, arguments: call.arguments } as const;
  return call.providerData === undefined ? part : { ...part, provider_data: call.providerData };
}
