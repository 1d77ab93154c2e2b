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
  /** Sessions of the task that have not ended, and those that were started within a minute. */
  readonly sessions: { readonly live: number; readonly recent: number };
  readonly limits: { readonly sessions: number; readonly spawnsPerMinute: number };
}

export interface Spawn {
  /** The new session takes the place of the primary one. */
  readonly primary: boolean;
}

/** Decides a spawn. Only a session of kind `task` is ever primary: when it is asked to be, or when the primary one has ended. */
export function decideSpawn(facts: SpawnFacts): Refusal | Spawn {
  const { task, kind, runtime, primary, makePrimary } = facts;
  if (task.archived) return refuse('TASK_ARCHIVED');
  if (taskMachine.isTerminal(task.state)) return refuse('TASK_TERMINAL', { state: task.state });
  if (task.stopping) return refuse('TASK_STOPPING');
  if (task.autopilot && kind !== 'task') return refuse('WRONG_SESSION_KIND', { kind });
  if (task.autopilot && !carriesAutopilot(runtime)) return refuse('PROFILE_INCOMPATIBLE', { runtime });
  const crowded = refuseCrowd(facts);
  if (crowded) return crowded;
  if (kind !== 'task') return makePrimary ? refuse('WRONG_SESSION_KIND', { kind, field: 'make_primary' }) : { primary: false };
  return { primary: makePrimary || primary === null || sessionMachine.isTerminal(primary) };
}

function refuseCrowd({ sessions, limits }: SpawnFacts): Refusal | null {
  if (sessions.live >= limits.sessions) return refuse('TOO_MANY_SESSIONS', { max: limits.sessions });
  if (sessions.recent >= limits.spawnsPerMinute) return refuse('CREATE_RATE_EXCEEDED', { max_per_minute: limits.spawnsPerMinute });
  return null;
}
