import { z } from 'zod';
import { Id, Instant, WholeNumber } from './common.js';

const isText = (text: string) => text.trim() !== '';

/** The one plan of a task: markdown that its own agent, its direct parent and operators write. */
export const TaskPlan = z
  .object({
    task_id: Id,
    title: z.string(),
    content: z.string(),
    revision: z.int().meta({ description: 'Rises with every change, across deletions too.' }),
    updated_by: z.string().meta({ description: 'Session or operator.' }),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'TaskPlan' });
export type TaskPlan = z.infer<typeof TaskPlan>;

/** What reading a plan returns: `null` where the task has none. */
export const FoundTaskPlan = z.object({ task_id: Id, plan: TaskPlan.nullable() }).meta({ id: 'FoundTaskPlan' });
export type FoundTaskPlan = z.infer<typeof FoundTaskPlan>;

export const WriteTaskPlan = z
  .strictObject({
    content: z.string().refine(isText, 'must not be empty').meta({ description: 'The whole plan, as markdown.' }),
    title: z.string().refine(isText, 'must not be empty').optional().meta({ description: 'Kept where absent; “Plan” for a new one.' }),
    expected_revision: WholeNumber.optional().meta({ description: 'Refuse unless the plan has this revision; 0: unless there is none.' }),
  })
  .meta({ id: 'WriteTaskPlan' });
export type WriteTaskPlan = z.infer<typeof WriteTaskPlan>;

/** Acknowledges a write without its content; `deduplicated`: nothing was changed, since it was so already. */
export const WrittenTaskPlan = z.object({ task_id: Id, revision: z.int(), deduplicated: z.boolean() }).meta({ id: 'WrittenTaskPlan' });
export type WrittenTaskPlan = z.infer<typeof WrittenTaskPlan>;

/** `deleted` is false where there was no plan. */
export const DeletedTaskPlan = z.object({ task_id: Id, deleted: z.boolean() }).meta({ id: 'DeletedTaskPlan' });
export type DeletedTaskPlan = z.infer<typeof DeletedTaskPlan>;
