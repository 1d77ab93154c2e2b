/** Starting another session of a task: what is checked before it exists (F10, F13, F14, autopilot-contract.md §8). */
import { refuse, type Refusal } from './refusal.js';
import { carriesAutopilot, type RuntimeKind, sessionMachine, type SessionKind, type SessionState } from './session.js';
import { taskMachine, type TaskState } from './task.js';

export interface SpawnFacts {
  readonly task: { readonly state: TaskState; readonly archived: boolean; readonly stopping: boolean; readonly autopilot: boolean };
  readonly kind: SessionKind;
  readonly runtime: RuntimeKind;
  /** State of the task's primary session; `null` where it has none. */
  readonly primary: SessionState | null;
  readonly makePrimary: boolean;
}

export interface Spawn {
  /** The new session takes the place of the primary one. */
  readonly primary: boolean;
}

/** Decides a spawn. Only a session of kind `task` is ever primary: when it is asked to be, or when the primary one has ended. */
export function decideSpawn({ task, kind, runtime, primary, makePrimary }: SpawnFacts): Refusal | Spawn {
  if (task.archived) return refuse('TASK_ARCHIVED');
  if (taskMachine.isTerminal(task.state)) return refuse('TASK_TERMINAL', { state: task.state });
  if (task.stopping) return refuse('TASK_STOPPING');
  if (task.autopilot && kind !== 'task') return refuse('WRONG_SESSION_KIND', { kind });
  if (task.autopilot && !carriesAutopilot(runtime)) return refuse('PROFILE_INCOMPATIBLE', { runtime });
  if (kind !== 'task') return makePrimary ? refuse('WRONG_SESSION_KIND', { kind, field: 'make_primary' }) : { primary: false };
  return { primary: makePrimary || primary === null || sessionMachine.isTerminal(primary) };
}
