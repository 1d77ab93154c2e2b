/** A task's plan: who may write it, and what a write does to it. */
import { refuse, type Refusal } from './refusal.js';

/** `own`: a session of the task itself; `parent`: one of its direct parent. */
export type PlanWriter = 'operator' | 'own' | 'parent' | 'other';

/** How a write treats what is there: `put` takes either. */
export type PlanIntention = 'create' | 'update' | 'put' | 'delete';

export interface PlanText {
  readonly title: string;
  readonly content: string;
  readonly revision: number;
}

export interface PlanWrite {
  readonly intention: Exclude<PlanIntention, 'delete'>;
  readonly content: string;
  /** `null` keeps the title. */
  readonly title: string | null;
  /** `null` takes any revision, 0 only no plan. */
  readonly expectedRevision: number | null;
}

const DEFAULT_TITLE = 'Plan';

/** The plan of a task that has ended or is archived is kept as it is; only an operator may still delete it. */
export function refusePlanWriter(
  writer: PlanWriter,
  intention: PlanIntention,
  task: { readonly ended: boolean; readonly archived: boolean },
): Refusal | null {
  if (writer === 'other') return refuse('FORBIDDEN', { field: 'task_id', rule: 'your own task or a direct subtask' });
  if (writer === 'operator' && intention === 'delete') return null;
  if (task.archived) return refuse('TASK_ARCHIVED');
  return task.ended ? refuse('TASK_TERMINAL') : null;
}

/** What a write leaves: the same text again changes nothing, whatever it expects, so that a retry without a key is harmless. */
export function decidePlanWrite(plan: PlanText | null, write: PlanWrite): Refusal | { readonly changed: boolean; readonly title: string } {
  const title = write.title ?? plan?.title ?? DEFAULT_TITLE;
  if (plan?.content === write.content && plan.title === title) return { changed: false, title };
  const revision = plan?.revision ?? 0;
  if (write.expectedRevision !== null && write.expectedRevision !== revision)
    return refuse('CONFLICT', { field: 'expected_revision', revision });
  if (write.intention === 'create' && plan)
    return refuse('CONFLICT', { rule: 'the task has a plan; use update_task_plan_kandev', revision });
  if (write.intention === 'update' && !plan) return refuse('NOT_FOUND', { rule: 'the task has no plan; use create_task_plan_kandev' });
  return { changed: true, title };
}
