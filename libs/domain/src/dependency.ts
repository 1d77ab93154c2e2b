/**
 * Dependencies between tasks: what a blocker does to the tasks that it blocks, and which dependency may be added.
 *
 * E1  Only a completed blocker releases its dependents. One that failed or was cancelled never will complete, and an archived one
 *     will not as long as it is archived: what depends on it stays held, and says so, until the dependency is removed.
 * E2  A dependency on such a blocker is refused, at creation as later: whoever asks learns it at once.
 * E3  Dependencies form no cycle. A refusal names the whole cycle.
 * E4  No task waits for one above it, also through others: a task is not done before what is below it. Nor does one wait for a task
 *     below it: held, it could neither answer that task nor hear of its end, which its parent hears of anyway.
 */
import { LIMITS } from './limits.js';
import { refuse, type Refusal } from './refusal.js';
import { taskMachine, type TaskState } from './task.js';

type Effect = 'holds' | 'releases' | 'halts';

const EFFECTS: Readonly<Record<TaskState, Effect>> = {
  blocked: 'holds',
  ready: 'holds',
  in_progress: 'holds',
  waiting: 'holds',
  review: 'holds',
  completed: 'releases',
  failed: 'halts',
  cancelled: 'halts',
};

/** States of a blocker that release its dependents; statements take them from here. */
export const RELEASING_STATES: readonly string[] = Object.entries(EFFECTS).flatMap(([state, effect]) =>
  effect === 'releases' ? [state] : [],
);

export interface Blocker {
  readonly id: string;
  readonly state: TaskState;
  readonly archived: boolean;
}

export interface DependencyEdge {
  readonly taskId: string;
  readonly blockedById: string;
}

/** Whether a task waits for one of these blockers; a task that has ended waits for nothing. */
export function isBlocked(state: TaskState, blockers: readonly Blocker[]): boolean {
  return !taskMachine.isTerminal(state) && blockers.some((blocker) => EFFECTS[blocker.state] !== 'releases');
}

/** Names the blockers because of which a waiting task would wait for ever, and their states; `null` where there is none. */
export function blockedReasonOf(state: TaskState, blockers: readonly Blocker[]): string | null {
  if (taskMachine.isTerminal(state)) return null;
  const named = blockers.filter(willNotComplete).map((blocker) => `${blocker.id} (${blocker.archived ? 'archived' : blocker.state})`);
  if (named.length === 0) return null;
  return `Waits for a task that will not complete: ${named.join(', ')}. It starts when that dependency is removed.`;
}

/** Refuses a blocker that will not complete (E2); `field` names where it was given. */
export function refuseBlocker(blocker: Blocker, field: string): Refusal | null {
  if (!willNotComplete(blocker)) return null;
  return refuse(blocker.archived ? 'TASK_ARCHIVED' : 'TASK_TERMINAL', { field, task_id: blocker.id, state: blocker.state });
}

export interface DependencyFacts {
  readonly task: Blocker;
  readonly blocker: Blocker;
  /** Blockers that the task has already. */
  readonly blockers: number;
  /** Every dependency that can be reached from the new blocker. */
  readonly upstream: readonly DependencyEdge[];
}

/** Refuses a dependency of an ended or archived task, on a blocker that will not complete, over the limit, or in a cycle; `null` allows it. */
export function refuseDependency({ task, blocker, blockers, upstream }: DependencyFacts): Refusal | null {
  const path = findPath(upstream, blocker.id, task.id);
  if (path) return refuse('DEPENDENCY_CYCLE', { path: [task.id, ...path] });
  if (taskMachine.isTerminal(task.state)) return refuse('TASK_TERMINAL', { field: 'task_id', state: task.state });
  if (task.archived) return refuse('TASK_ARCHIVED', { field: 'task_id' });
  const max = LIMITS.blockers_per_task.default;
  if (blockers >= max) return refuse('LIMIT_EXCEEDED', { field: 'depends_on_task_id', max });
  return refuseBlocker(blocker, 'depends_on_task_id');
}

function willNotComplete({ state, archived }: Blocker): boolean {
  return EFFECTS[state] === 'halts' || (archived && EFFECTS[state] === 'holds');
}

/** The shortest chain of blockers from one task to another, both included; `null` where there is none. */
function findPath(edges: readonly DependencyEdge[], from: string, to: string): readonly string[] | null {
  const reached = new Map<string, string | null>([[from, null]]);
  const blockersOf = Map.groupBy(edges, ({ taskId }) => taskId);
  for (const id of reached.keys()) {
    if (id === to) return trace(reached, to);
    for (const { blockedById } of blockersOf.get(id) ?? []) if (!reached.has(blockedById)) reached.set(blockedById, id);
  }
  return null;
}

function trace(reached: ReadonlyMap<string, string | null>, to: string): readonly string[] {
  const path: string[] = [];
  for (let id: string | null = to; id !== null; id = reached.get(id) ?? null) path.unshift(id);
  return path;
}
