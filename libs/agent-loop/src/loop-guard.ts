/**
 * Loop protection (agent-loop.md §6): the fifth identical call in a row does not run; three identical calls in a row with identical
 * results are the last. Different arguments are never identical, polling tools are exempt, and new input from a person starts over.
 */
import { CallContent } from './call-identity.js';
import type { ModelMessage } from './model-port.js';

const IDENTICAL_CALLS = 5;
const IDENTICAL_RESULTS = 3;

export class LoopGuard {
  private called: CallContent | null = null;
  private calls = 0;
  private answered: CallContent | null = null;
  private answer: string | null = null;
  private answers = 0;

  constructor(private readonly isPolling: (name: string) => boolean) {}

  /** Takes up the counts of a turn that is going on: everything after the last user message. */
  seed(history: readonly ModelMessage[]): void {
    const start = history.findLastIndex((message) => message.role === 'user');
    for (const message of history.slice(start + 1)) {
      if (message.role === 'assistant') this.seedCalls(message);
      if (message.role === 'tool') for (const part of message.parts) this.seedAnswer(part.call_id, part.text);
    }
    this.seeded.clear();
  }

  /** Counts a call before it runs; `true`: it is one too many. */
  countCall(call: CallContent): boolean {
    if (this.isPolling(call.name)) {
      this.called = null;
      this.calls = 0;
      return false;
    }
    this.calls = this.called !== null && this.called.equals(call) ? this.calls + 1 : 1;
    this.called = call;
    return this.calls >= IDENTICAL_CALLS;
  }

  /** How often the last counted call was made in a row. */
  get streak(): number {
    return this.calls;
  }

  /** Counts what a call brought; `true`: the same call brought the same too often. */
  countAnswer(call: CallContent, text: string): boolean {
    if (this.isPolling(call.name)) {
      this.answered = null;
      this.answers = 0;
      return false;
    }
    const same = this.answered !== null && this.answer === text && this.answered.equals(call);
    this.answers = same ? this.answers + 1 : 1;
    this.answered = call;
    this.answer = text;
    return this.answers >= IDENTICAL_RESULTS;
  }

  reset(): void {
    this.called = null;
    this.calls = 0;
    this.answered = null;
    this.answer = null;
    this.answers = 0;
  }

  private readonly seeded = new Map<string, CallContent>();

  private seedCalls(message: Extract<ModelMessage, { role: 'assistant' }>): void {
    for (const part of message.parts) {
      if (part.type !== 'tool_call') continue;
      const call = new CallContent(part.name, part.arguments);
      this.countCall(call);
      this.seeded.set(part.call_id, call);
    }
  }

  private seedAnswer(callId: string, text: string): void {
    const call = this.seeded.get(callId);
    if (call !== undefined) this.countAnswer(call, text);
  }
}
