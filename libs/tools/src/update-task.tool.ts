import type { ToolDefinition } from '@echelon/agent-loop';
import { UpdateTask } from '@echelon/contracts';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const { title, prompt } = UpdateTask.shape;
const UpdateTaskInput = z.strictObject({
  task_id: exactId('Task to change.'),
  title: title.describe('At most 60 characters.'),
  prompt: prompt.describe('New prompt; refused once the task has started, since its agent has read the old one by then.'),
});

/** `update_task_kandev`: `autopilot` is no argument, since it is fixed at creation (F5), nor is the state, which is an operator's to set. */
export function updateTaskTool(services: ToolServices): ToolDefinition<typeof UpdateTaskInput, ToolContext> {
  return {
    name: 'update_task_kandev',
    title: 'Update task',
    description:
      'Changes the title or, until it starts, the prompt of your own task or of one below it; what is left out stays. Use it to correct what a task says of itself. ' +
      'Either all of the call is applied or nothing. Returns the changed task.',
    input: UpdateTaskInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async ({ task_id: id, ...changes }, execution) => toResult(await services.tasks.update(callerOf(execution), id, changes)),
  };
}
