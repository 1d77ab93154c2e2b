import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const StopTaskInput = z.strictObject({
  task_id: exactId('Task to stop.'),
  cascade: z.boolean().default(false).describe('true: all tasks below it too.'),
});

/** `stop_task_kandev`: for the direct parent and for operators (autopilot-contract.md §8). */
export function stopTaskTool(services: ToolServices): ToolDefinition<typeof StopTaskInput, ToolContext> {
  return {
    name: 'stop_task_kandev',
    title: 'Stop task',
    description:
      'Stops the agents of a task: running turns are cancelled, its sessions end, and the task rests in review with its files and messages kept. Use it when a direct subtask ' +
      'goes wrong or is no longer needed. Returns status stopped or not_running, and as descendants the ids of the tasks below it, which go on unless cascade is true.',
    input: StopTaskInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async ({ task_id: id, cascade }, execution) => toResult(await services.tasks.stop(callerOf(execution), id, { cascade })),
  };
}
