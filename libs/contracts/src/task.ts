import { LIMITS } from '@echelon/domain';
import { z } from 'zod';
import { Id, Instant, PageQuery } from './common.js';

export const TaskState = z.enum(['blocked', 'ready', 'in_progress', 'waiting', 'review', 'completed', 'failed', 'cancelled']);
export const WorkspaceMode = z.enum(['inherit_parent', 'new_workspace']);
export const PendingAction = z.enum(['clarification', 'permission']).nullable();

export const Task = z
  .object({
    id: Id,
    workspace_id: Id,
    parent_id: Id.nullable(),
    depth: z.int(),
    title: z.string(),
    title_source: z.enum(['provisional', 'generated', 'manual']),
    prompt: z.string(),
    autopilot: z.boolean().meta({ description: 'Fixed at creation; never inherited.' }),
    state: TaskState,
    pending_action: PendingAction,
    workflow_id: Id.nullable(),
    workflow_step: z.object({ id: Id, name: z.string() }).nullable().meta({ description: 'The step of its workflow; null without one.' }),
    profile_id: Id,
    workspace_mode: WorkspaceMode,
    primary_session_id: Id.nullable(),
    open_children: z.int(),
    blocked_by: z.array(Id),
    blocked_reason: z.string().nullable().meta({
      description: 'Names each blocker that failed, was cancelled or is archived: it releases nothing until the dependency is removed.',
    }),
    result: z.string().nullable(),
    created_at: Instant,
    updated_at: Instant,
    ended_at: Instant.nullable(),
    archived_at: Instant.nullable(),
  })
  .meta({ id: 'Task' });
export type Task = z.infer<typeof Task>;

/** What a task is created from; REST and MCP share it (F2). */
export const CreateTask = z
  .strictObject({
    workspace_id: Id.optional(),
    parent_id: Id.nullish(),
    title: z.string().trim().min(1).optional(),
    prompt: z.string().trim().min(1),
    autopilot: z.boolean().default(false),
    profile_id: Id.optional(),
    workspace_mode: WorkspaceMode.optional(),
    blocked_by: z.array(Id).max(LIMITS.blockers_per_task.default).default([]),
    start_agent: z.boolean().default(true),
    workflow_id: Id.or(z.literal('default'))
      .optional()
      .meta({ description: 'Or `default`, the workspace’s own choice. Without it the task has no workflow.' }),
    workflow_step_id: Id.optional().meta({ description: 'The step that it starts in; the first of the workflow where left out.' }),
  })
  .meta({ id: 'CreateTask' });
export type CreateTask = z.infer<typeof CreateTask>;

export const CreatedTask = Task.extend({ deduplicated: z.boolean() }).meta({ id: 'CreatedTask' });
export type CreatedTask = z.infer<typeof CreatedTask>;

/** Fields that may change after creation. `autopilot` is refused by name (F5). */
export const UpdateTask = z
  .strictObject({
    title: z.string().trim().min(1).optional(),
    prompt: z.string().trim().min(1).optional(),
    state: z.enum(['review', 'completed', 'failed', 'cancelled']).optional(),
  })
  .meta({ id: 'UpdateTask' });
export type UpdateTask = z.infer<typeof UpdateTask>;

/** The step that a task moves to; `workflow_id` may be named to be sure. */
export const MoveTask = z.strictObject({ workflow_step_id: Id, workflow_id: Id.optional() }).meta({ id: 'MoveTask' });
export type MoveTask = z.infer<typeof MoveTask>;

export const MovedTask = Task.extend({
  deferred: z.boolean().meta({ description: 'The task’s turn runs: it moves when that turn ends, unless the turn asks its parent.' }),
}).meta({ id: 'MovedTask' });
export type MovedTask = z.infer<typeof MovedTask>;

/** Another parent for a task; `null` makes it a root. */
export const ReparentTask = z.strictObject({ parent_id: Id.nullable() }).meta({ id: 'ReparentTask' });
export type ReparentTask = z.infer<typeof ReparentTask>;

/** What a task waits for, and whether it waits. */
export const TaskDependencies = z
  .object({
    task_id: Id,
    blocked: z.boolean().meta({ description: 'A task that it depends on has not completed: no turn of it starts.' }),
    blocked_reason: Task.shape.blocked_reason,
    depends_on: z.array(Id),
  })
  .meta({ id: 'TaskDependencies' });
export type TaskDependencies = z.infer<typeof TaskDependencies>;

export const ListTasks = PageQuery.extend({
  workspace_id: Id.optional(),
  parent_id: Id.optional(),
  roots_only: z.stringbool().or(z.boolean()).optional(),
  state: TaskState.optional(),
  include_archived: z.stringbool().or(z.boolean()).optional(),
  query: z.string().max(200).optional(),
  workflow_id: Id.optional(),
  workflow_step_id: Id.optional(),
});
export type ListTasks = z.infer<typeof ListTasks>;

/** A short line about a related task. */
export const TaskSummary = Task.pick({ id: true, title: true, state: true, autopilot: true, pending_action: true, parent_id: true }).meta({
  id: 'TaskSummary',
});
export type TaskSummary = z.infer<typeof TaskSummary>;

export const RelatedTasks = z
  .object({
    parent: TaskSummary.nullable(),
    children: z.array(TaskSummary),
    siblings: z.array(TaskSummary),
    blocked_by: z.array(TaskSummary),
    blocks: z.array(TaskSummary),
  })
  .meta({ id: 'RelatedTasks' });
export type RelatedTasks = z.infer<typeof RelatedTasks>;

export const StoppedTask = z
  .object({
    task_id: Id,
    status: z.enum(['stopped', 'not_running']),
    descendants: z.array(Id).meta({ description: 'Not stopped unless cascade was set.' }),
  })
  .meta({ id: 'StoppedTask' });
export type StoppedTask = z.infer<typeof StoppedTask>;

export const DeletedTask = z
  .object({
    task_id: Id,
    deleted: z.int().meta({ description: 'Tasks that this call deleted, with those below it.' }),
    detached: z.array(Id).meta({ description: 'Its children that have no parent now.' }),
    already_deleted: z.boolean().meta({ description: 'You had deleted it before.' }),
  })
  .meta({ id: 'DeletedTask' });
export type DeletedTask = z.infer<typeof DeletedTask>;
