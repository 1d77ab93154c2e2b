import { defineMachine, type EventOf, type StateOf } from './machine.js';

export const queueEntryMachine = defineMachine({
  queued: { deliver: 'delivered', cancel: 'cancelled', fail: 'failed' },
  delivered: {},
  cancelled: {},
  failed: {},
});
export type QueueEntryState = StateOf<typeof queueEntryMachine>;
export type QueueEntryEvent = EventOf<typeof queueEntryMachine>;

/** `prompt`: an operator's or a task's message. The rest is written by the backend. */
export const ENTRY_KINDS = ['prompt', 'answer', 'question', 'alert', 'notice', 'reminder'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];
export type DeliveryMode = 'queued' | 'interrupt';

/** Rank decides before order (autopilot-contract.md §8): notice, answer and superseding prompt, then interrupt, then question and alert, then the rest. */
export function rankOf(kind: EntryKind, how: { readonly supersedes: boolean; readonly interrupts: boolean }): 0 | 1 | 2 | 3 {
  if (kind === 'notice' || kind === 'answer' || how.supersedes) return 0;
  if (how.interrupts) return 1;
  return kind === 'question' || kind === 'alert' ? 2 : 3;
}

/** The cap counts ordinary messages only: what the protocol itself writes is never refused for capacity (A10). */
export function countsTowardsCap(kind: EntryKind): boolean {
  return kind === 'prompt';
}

/** What may be done to an entry that waits. */
export type QueueChange = 'remove' | 'edit' | 'move';

/**
 * What a person may do to a waiting entry. What the protocol wrote because somebody waits for it stays as it is; a place among its own
 * rank is nobody's promise, but for what goes before everything else.
 */
export const CHANGEABLE: Readonly<Record<EntryKind, Readonly<Record<QueueChange, boolean>>>> = {
  prompt: { remove: true, edit: true, move: true },
  alert: { remove: true, edit: false, move: true },
  question: { remove: false, edit: false, move: true },
  reminder: { remove: false, edit: false, move: true },
  answer: { remove: false, edit: false, move: false },
  notice: { remove: false, edit: false, move: false },
};

/**
 * What stays in the queue of a session that was stopped, for the task's next session (autopilot-contract.md §8). The rest speaks of the
 * stopped session's own turns and questions, or moves to whoever is told instead.
 */
export const KEPT_WHEN_STOPPED: readonly EntryKind[] = ['prompt', 'alert'];
