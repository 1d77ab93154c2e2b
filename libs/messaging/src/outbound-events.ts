import type { EventBatch, Gap } from './event-batch.js';
import type { LiveEvent } from './event-bus.js';

/** A larger payload is announced as a gap instead of carried. */
const MAX_PAYLOAD_BYTES = 256 * 1024;
/** What a publisher holds while it cannot send; beyond it everything held becomes one gap. */
const MAX_HELD_CHARACTERS = 8 * 1024 * 1024;

/** Events on their way out: held for a moment, bounded, and replaced by gaps where they cannot travel. */
export class OutboundEvents {
  #events: LiveEvent[] = [];
  #gaps: Gap[] = [];
  #heldCharacters = 0;

  add(event: LiveEvent): void {
    if (Buffer.byteLength(event.payload) > MAX_PAYLOAD_BYTES) this.addGap({ reason: 'oversize', topic: event.topic });
    else this.#hold(event);
  }

  /** A gap of everything makes the narrower ones before it superfluous. */
  addGap(gap: Gap): void {
    if (gap.topic === undefined) this.#gaps = [gap];
    else if (!this.#gaps.some(({ topic }) => topic === undefined || topic === gap.topic)) this.#gaps.push(gap);
  }

  isEmpty(): boolean {
    return this.#events.length === 0 && this.#gaps.length === 0;
  }

  take(): EventBatch {
    const batch = { events: this.#events, gaps: this.#gaps };
    this.#events = [];
    this.#gaps = [];
    this.#heldCharacters = 0;
    return batch;
  }

  #hold(event: LiveEvent): void {
    this.#heldCharacters += event.topic.length + event.payload.length;
    this.#events.push(event);
    if (this.#heldCharacters <= MAX_HELD_CHARACTERS) return;
    this.take();
    this.addGap({ reason: 'overflow' });
  }
}
