import { defineMachine, type EventOf, type StateOf } from './machine.js';

/** A task's life (autopilot-contract.md §1). Archived is a mark beside the state, not a state. */
export const taskMachine = defineMachine({
  blocked: { unblock: 'ready', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  ready: { block: 'blocked', start: 'in_progress', rest: 'review', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  in_progress: { start: 'in_progress', wait: 'waiting', rest: 'review', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  waiting: { start: 'in_progress', wait: 'waiting', rest: 'review', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  review: { start: 'in_progress', rest: 'review', wait: 'waiting', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  completed: {},
  failed: {},
  cancelled: {},
});
export type TaskState = StateOf<typeof taskMachine>;
export type TaskEvent = EventOf<typeof taskMachine>;
