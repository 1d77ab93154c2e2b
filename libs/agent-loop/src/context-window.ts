/** How large a prompt may be, and about how large it is: all in tokens. */
import type { ModelMessage, ModelRequest } from './model-port.js';

/** What a model is taken to read and write together where nobody says. */
const DEFAULT_CONTEXT_WINDOW = 128_000;

/** A prompt past this share of the window is compacted, however short the answers are. */
const FULL = 0.85;
/** The share of the window that answers may claim at most. */
const MOST_OUTPUT = 0.5;

export interface PromptRoom {
  /** A prompt past it fits no request. */
  readonly window: number;
  /** A prompt past it is compacted. */
  readonly threshold: number;
}

/** The room of a model: its window, less what its answer needs. */
export function roomOf(model: { readonly contextWindow?: number; readonly maxOutputTokens?: number }): PromptRoom {
  const window = model.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  const output = Math.min(model.maxOutputTokens ?? 0, MOST_OUTPUT * window);
  return { window, threshold: Math.min(FULL * window, window - output) };
}

/** Tokens of a text by a rule of thumb: four ASCII characters are one, any other character is three quarters of one. */
export function estimateText(text: string): number {
  let characters = text.length;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) characters += 2;
  return characters / 4;
}

export function estimateMessage(message: ModelMessage): number {
  let tokens = 4;
  for (const part of message.parts) {
    tokens += estimateText(part.type === 'tool_call' ? part.name + part.arguments : part.text);
    if ('provider_data' in part) tokens += estimateText(JSON.stringify(part.provider_data));
  }
  return tokens;
}

export function estimateMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

/** What every request of a turn carries beside the history. */
export function estimateOverhead({ system, tools }: Pick<ModelRequest, 'system' | 'tools'>): number {
  return estimateText(system) + estimateText(JSON.stringify(tools));
}

/**
 * The size of the next prompt: what the provider counted last, and an estimate of what was added since. Each message is measured
 * once, so that a round of a long turn costs what an early one does.
 */
export class PromptSize {
  private tokens: number;
  private measured = 0;

  constructor(readonly overhead: number) {
    this.tokens = overhead;
  }

  /** Takes up the provider's count of everything up to the message `messages`. */
  know(tokens: number, messages: number): void {
    this.tokens = tokens;
    this.measured = messages;
  }

  /** Starts over, for a history that became another. */
  forget(): void {
    this.know(this.overhead, 0);
  }

  of(history: readonly ModelMessage[]): number {
    for (; this.measured < history.length; this.measured++) {
      const message = history[this.measured];
      if (message !== undefined) this.tokens += estimateMessage(message);
    }
    return this.tokens;
  }
}
