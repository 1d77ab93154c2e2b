import type { Slot } from './batch.js';

/** Slots that run together (`concurrent`) or one after the other. */
export interface CallGroup<Context> {
  readonly concurrent: boolean;
  readonly slots: Slot<Context>[];
}

/**
 * Consecutive concurrency-safe calls form one group, every other call its own; groups keep the request order.
 * Answered calls launch nothing and stay with the group around them.
 */
export function partition<Context>(slots: readonly Slot<Context>[]): CallGroup<Context>[] {
  const groups: CallGroup<Context>[] = [];
  for (const slot of slots) {
    const concurrent = slot.settled !== null || isConcurrencySafe(slot);
    const current = groups.at(-1);
    if (current !== undefined && (slot.settled !== null || (concurrent && current.concurrent))) current.slots.push(slot);
    else groups.push({ concurrent, slots: [slot] });
  }
  return groups;
}

/** Judged from the final input; an unknown tool is not safe. */
function isConcurrencySafe<Context>({ tool, input }: Slot<Context>): boolean {
  if (tool === null) return false;
  return typeof tool.concurrencySafe === 'function' ? tool.concurrencySafe(input) : tool.concurrencySafe;
}
