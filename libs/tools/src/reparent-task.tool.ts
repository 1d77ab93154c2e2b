import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ReparentTaskInput = z.strictObject({
  task_id: exactId('Task to move, with all tasks below it.'),
  parent_id: exactId('Full task id.').nullable().describe('Its new parent, in the same workspace; null makes it a root.'),
});

/** `reparent_task_kandev`: for operators (autopilot-contract.md S4, R8). */
export function reparentTaskTool(services: ToolServices): ToolDefinition<typeof ReparentTaskInput, ToolContext> {
  return {
    name: 'reparent_task_kandev',
    title: 'Move task',
    description:
      'Attaches a task to another parent, or detaches it. A question that it asked its old parent ends unanswered, and its agent is told. Returns task_id, parent_id and depth; ' +
      'the same parent again changes nothing.',
    input: ReparentTaskInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async ({ task_id: id, parent_id: parentId }, execution) =>
      toResult(await services.tasks.reparent(callerOf(execution), id, parentId), ({ parent_id, depth }) => ({
        task_id: id,
        parent_id,
        depth,
      })),
  };
}
