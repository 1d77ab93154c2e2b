/**
 * What a person says while a turn runs (agent-loop.md §2, "boundary input"). A Lead steers the turn and joins its next request; anything
 * else joins it only right after tools, and otherwise waits for a turn of its own.
 */
import type { ModelMessage, SendType } from '@echelon/agent-loop';

export interface WaitingInput {
  readonly kind: 'lead' | 'input';
  readonly message: Extract<ModelMessage, { role: 'user' }>;
}

export class SessionInbox {
  private waiting: readonly WaitingInput[] = [];

  add(kind: WaitingInput['kind'], text: string): void {
    this.waiting = [...this.waiting, { kind, message: { role: 'user', parts: [{ type: 'text', text }] } }];
  }

  /** In the order in which it was said. */
  get pending(): readonly WaitingInput[] {
    return this.waiting;
  }

  get leadPending(): boolean {
    return this.waiting.some(({ kind }) => kind === 'lead');
  }

  /** Takes what joins a request that carries this. */
  take(sendType: SendType): readonly WaitingInput[] {
    const joins = ({ kind }: WaitingInput): boolean => kind === 'lead' || sendType === 'tool_result';
    const taken = this.waiting.filter(joins);
    this.waiting = this.waiting.filter((input) => !joins(input));
    return taken;
  }

  /** What could not be stored with its request waits on. */
  putBack(inputs: readonly WaitingInput[]): void {
    this.waiting = [...inputs, ...this.waiting];
  }

  /** Takes the last back, for the person to change it. */
  takeBack(): WaitingInput | null {
    const last = this.waiting.at(-1) ?? null;
    this.waiting = this.waiting.slice(0, -1);
    return last;
  }

  /** Takes the first input that waits for a turn of its own. */
  takeNext(): string | null {
    const [first, ...rest] = this.waiting;
    if (first === undefined) return null;
    this.waiting = rest;
    return first.message.parts.map(({ text }) => text).join('\n');
  }
}
