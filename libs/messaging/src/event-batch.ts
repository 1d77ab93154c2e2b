import type { GapReason, LiveEvent } from './event-bus.js';

/** What one send carries: events in order, and gaps of one topic or of all. */
export interface EventBatch {
  readonly events: readonly LiveEvent[];
  readonly gaps: readonly Gap[];
}

export interface Gap {
  readonly reason: GapReason;
  /** Absent: every topic. */
  readonly topic?: string;
}

type WireBatch = readonly [events: readonly (readonly [topic: string, payload: string])[], gaps: readonly Gap[]];

export function encodeBatch({ events, gaps }: EventBatch): string {
  const wire: WireBatch = [events.map(({ topic, payload }) => [topic, payload]), gaps];
  return JSON.stringify(wire);
}

/** The channel is ours alone and both ends are one release line, so the text is trusted. */
export function decodeBatch(text: string): EventBatch {
  const [events, gaps] = JSON.parse(text) as WireBatch;
  return { events: events.map(([topic, payload]) => ({ topic, payload })), gaps };
}
