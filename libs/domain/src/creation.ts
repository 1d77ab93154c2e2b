/** Creation of a task: what is checked before a row exists (F1–F10, operations.md Limits). */
import { refuse, type Refusal } from './refusal.js';
import { carriesAutopilot, type RuntimeKind } from './session.js';
import { taskMachine, type TaskState } from './task.js';

export interface CreationLimits {
  readonly maxDepth: number;
  readonly maxChildren: number;
  readonly createsPerTreeAndMinute: number;
}

/** A task that is to have one more child. */
export interface ParentFacts {
  readonly state: TaskState;
  readonly archived: boolean;
  readonly stopping: boolean;
  readonly depth: number;
  readonly children: number;
}

export interface CreationFacts {
  readonly autopilot: boolean;
  readonly runtime: RuntimeKind;
  readonly parent: ParentFacts | null;
  readonly createdInTreeLastMinute: number;
  /** A task that it depends on has not completed. */
  readonly blocked: boolean;
  readonly limits: CreationLimits;
}

export interface Creation {
  readonly state: TaskState;
  readonly depth: number;
}

/** Decides a creation. `autopilot` is never inherited and never downgraded (F3, F9). */
export function decideCreation(facts: CreationFacts): Refusal | Creation {
  if (facts.autopilot && !carriesAutopilot(facts.runtime)) return refuse('PROFILE_INCOMPATIBLE', { runtime: facts.runtime });
  const refusal = facts.parent && refuseParent(facts.parent, facts.limits);
  if (refusal) return refusal;
  if (facts.createdInTreeLastMinute >= facts.limits.createsPerTreeAndMinute) {
    return refuse('CREATE_RATE_EXCEEDED', { max_per_minute: facts.limits.createsPerTreeAndMinute });
  }
  return { state: facts.blocked ? 'blocked' : 'ready', depth: facts.parent ? facts.parent.depth + 1 : 0 };
}

/** Refuses a parent that takes no more children, or none so deep. */
export function refuseParent(parent: ParentFacts, limits: Pick<CreationLimits, 'maxDepth' | 'maxChildren'>): Refusal | null {
  if (parent.archived) return refuse('TASK_ARCHIVED');
  if (taskMachine.isTerminal(parent.state)) return refuse('PARENT_NOT_USABLE', { state: parent.state });
  if (parent.stopping) return refuse('TASK_STOPPING');
  if (parent.depth + 1 > limits.maxDepth) return refuse('DEPTH_EXCEEDED', { max: limits.maxDepth });
  if (parent.children >= limits.maxChildren) return refuse('TOO_MANY_CHILDREN', { max: limits.maxChildren });
  return null;
}
