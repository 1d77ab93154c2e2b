import type { ToolDefinition } from '@echelon/agent-loop';
import { type Page, type Task, TaskState } from '@echelon/contracts';
import { z } from 'zod';
import { exactId, pageArguments } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ListTasksInput = z.strictObject({
  parent_id: exactId('Only direct subtasks of this task.').optional(),
  roots_only: z.boolean().optional().describe('true: only tasks without a parent.'),
  state: TaskState.optional().describe('Only tasks in this state.'),
  query: z.string().trim().min(1).max(200).optional().describe('Only tasks whose title contains this text.'),
  include_archived: z.boolean().optional().describe('true: archived tasks too.'),
  workflow_id: exactId('Only tasks in this workflow.').optional(),
  workflow_step_id: exactId('Only tasks in this step.').optional(),
  workspace_id: exactId('Only tasks of this workspace; an agent sees its own alone.').optional(),
  ...pageArguments(100),
});

/** `list_tasks_kandev`: tasks without their prompts and results, which would fill a context. */
export function listTasksTool(services: ToolServices): ToolDefinition<typeof ListTasksInput, ToolContext> {
  return {
    name: 'list_tasks_kandev',
    title: 'List tasks',
    description:
      'Lists tasks of the workspace from new to old, page by page, with state, autopilot, parent and pending_action, and without prompt and result. Use it to find a task ' +
      'whose id you do not know. Returns { items, next_cursor }; next_cursor is null on the last page.',
    input: ListTasksInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    polling: true,
    execute: async (input, execution) => toResult(await services.tasks.list(callerOf(execution), input), toLines),
  };
}

function toLines({ items, next_cursor }: Page<Task>): object {
  return { items: items.map(({ prompt: _prompt, result: _result, ...line }) => line), next_cursor };
}
