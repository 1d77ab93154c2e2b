import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const DeleteTaskInput = z.strictObject({
  task_id: exactId('Task to delete.'),
  cascade: z.boolean().default(false).describe('true: all tasks below it too. Required where there are any.'),
});

/** `delete_task_kandev`: for the direct parent and for operators. */
export function deleteTaskTool(services: ToolServices): ToolDefinition<typeof DeleteTaskInput, ToolContext> {
  return {
    name: 'delete_task_kandev',
    title: 'Delete task',
    description:
      'Deletes a direct subtask for good: its agents end, and its conversation and its folder are removed. Use archive_task_kandev where somebody may want to read it again. ' +
      'Tasks that wait for it stay held until that dependency is removed. Returns task_id, deleted (how many tasks), detached and already_deleted.',
    input: DeleteTaskInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async ({ task_id: id, cascade }, execution) => toResult(await services.tasks.delete(callerOf(execution), id, { cascade })),
  };
}
