import { defineMachine, type EventOf, type StateOf } from './machine.js';

/**
 * A session's life. `start`: a worker holds it and runs a turn. `release`: its lease went away with the turn unfinished
 * (crash, hand-over), so it rests runnable until the next claim.
 */
export const sessionMachine = defineMachine({
  created: { start: 'running', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  running: {
    start: 'running',
    rest: 'idle',
    wait: 'waiting_for_input',
    park: 'parked',
    release: 'idle',
    complete: 'completed',
    fail: 'failed',
    cancel: 'cancelled',
  },
  idle: { start: 'running', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  waiting_for_input: { start: 'running', rest: 'idle', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  parked: { start: 'running', rest: 'idle', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  completed: {},
  failed: {},
  cancelled: {},
});
export type SessionState = StateOf<typeof sessionMachine>;
export type SessionEvent = EventOf<typeof sessionMachine>;

export type SessionKind = 'task' | 'quick_chat' | 'config' | 'utility';

/**
 * How a session's agent is run: by our loop, as a process of its own that we drive over ACP, by someone else who calls our MCP
 * endpoint, or without any of our tools.
 */
export const RUNTIME_KINDS = ['loop', 'acp', 'external', 'passthrough'] as const;
export type RuntimeKind = (typeof RUNTIME_KINDS)[number];

/** Whether the runtime can be given our MCP tools (F9, F14). */
export function receivesTools(runtime: RuntimeKind): boolean {
  return runtime !== 'passthrough';
}

/** Whether we start the runtime's turns ourselves; an autopilot task needs one that we drive (autopilot-contract.md §1). */
export function isDriven(runtime: RuntimeKind): boolean {
  return runtime === 'loop' || runtime === 'acp';
}

/** Whether an unfinished turn can go on in its middle, after a wait or a crash: only our own loop is rebuilt from its journal. */
export function isResumable(runtime: RuntimeKind): boolean {
  return runtime === 'loop';
}

/** Whether the runtime can carry the contract of an autopilot task: we drive it, and it receives our tools (F9, F14). */
export function carriesAutopilot(runtime: RuntimeKind): boolean {
  return receivesTools(runtime) && isDriven(runtime);
}
