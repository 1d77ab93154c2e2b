/**
 * The one mapper from AI SDK stream parts to our model events.
 *
 * E1  Provider data of a block of text or thought comes once, on the last event of that block; its text may be empty.
 *     What follows begins a new block.
 * E2  A stream without a finish reason has no `finished` event (M3).
 */
import {
  InvalidResponseDataError,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { unifyFinishReason, type ModelEvent, type ModelFailure, type ProviderData, type Usage } from '@echelon/agent-loop';
import type { WireFacts } from './wire-facts.js';

type Part<Type extends LanguageModelV4StreamPart['type']> = Extract<LanguageModelV4StreamPart, { type: Type }>;
type BlockPart = Part<'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>;

export class EventMapper {
  private readonly blocks = new Map<string, ProviderData>();

  constructor(
    private readonly facts: WireFacts,
    private readonly toFailure: (error: unknown) => ModelFailure,
  ) {}

  /** At most one event per part; `null` for parts that say nothing to a loop. */
  map(part: LanguageModelV4StreamPart): ModelEvent | null {
    switch (part.type) {
      case 'raw':
        this.facts.read(part.rawValue);
        return null;
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return this.mapBlock('content', part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.mapBlock('thought', part);
      case 'tool-input-start':
        return { type: 'tool_call_preparation', callId: this.facts.findCallId(part.id), name: part.toolName };
      case 'tool-call':
        return this.mapCall(part);
      case 'finish':
        return this.mapFinish(part.usage);
      case 'error':
        return isMissingFinish(part.error) ? null : { type: 'error', failure: this.toFailure(part.error) };
      default:
        return null;
    }
  }

  private mapBlock(type: 'content' | 'thought', part: BlockPart): ModelEvent | null {
    const block = `${type}:${part.id}`;
    if (part.providerMetadata !== undefined) this.blocks.set(block, merge(this.blocks.get(block), part.providerMetadata));
    if ('delta' in part) return part.delta === '' ? null : { type, text: part.delta };
    const providerData = this.blocks.get(block);
    if (providerData === undefined || part.type === 'text-start' || part.type === 'reasoning-start') return null;
    this.blocks.delete(block);
    return { type, text: '', providerData };
  }

  private mapCall(part: Part<'tool-call'>): ModelEvent {
    const call = { callId: this.facts.findCallId(part.toolCallId), name: part.toolName, arguments: part.input };
    return { type: 'tool_call', call: part.providerMetadata === undefined ? call : { ...call, providerData: part.providerMetadata } };
  }

  private mapFinish(usage: LanguageModelV4Usage): ModelEvent | null {
    const rawReason = this.facts.finishReason;
    if (rawReason === null) return null;
    return { type: 'finished', reason: unifyFinishReason(rawReason), rawReason, usage: toUsage(usage) };
  }
}

/** What chat-completions report as an error is a stream that just ended. */
function isMissingFinish(error: unknown): boolean {
  return InvalidResponseDataError.isInstance(error) && error.data === undefined;
}

function merge(known: ProviderData | undefined, added: SharedV4ProviderMetadata): ProviderData {
  const merged: Record<string, unknown> = { ...known };
  for (const [provider, data] of Object.entries(added)) merged[provider] = Object.assign({}, merged[provider], data);
  return merged;
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: inputTokens.total ?? null,
    outputTokens: outputTokens.total ?? null,
    cachedInputTokens: inputTokens.cacheRead ?? null,
    reasoningTokens: outputTokens.reasoning ?? null,
  };
}
