/** Giving a task another parent, or none (autopilot-contract.md S4, R8; invariant 6). */
import { type CreationLimits, type ParentFacts, refuseParent } from './creation.js';
import { refuse, type Refusal } from './refusal.js';

export interface ReparentFacts {
  readonly task: { readonly archived: boolean; readonly stopping: boolean };
  /** Levels of open or ended tasks below the task; 0 where it has no children. */
  readonly height: number;
  /** The new parent; `null` detaches. */
  readonly parent: (ParentFacts & { readonly isTaskOrBelow: boolean; readonly sameWorkspace: boolean }) | null;
  readonly limits: Pick<CreationLimits, 'maxDepth' | 'maxChildren'>;
}

/** Refuses a move that would leave the workspace, make a cycle or exceed depth or children; `null` allows it. */
export function refuseReparent({ task, height, parent, limits }: ReparentFacts): Refusal | null {
  if (task.archived) return refuse('TASK_ARCHIVED');
  if (task.stopping) return refuse('TASK_STOPPING');
  if (!parent) return null;
  if (!parent.sameWorkspace) return refuse('PARENT_NOT_USABLE', { rule: 'a task of the same workspace' });
  if (parent.isTaskOrBelow) return refuse('PARENT_NOT_USABLE', { rule: 'neither the task itself nor a task below it' });
  return refuseParent({ ...parent, depth: parent.depth + height }, limits);
}
