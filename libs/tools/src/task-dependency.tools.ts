import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const DependencyInput = z.strictObject({
  task_id: exactId('The task that waits: your own or a direct subtask of it.'),
  depends_on_task_id: exactId('The task that it waits for, in the same workspace.'),
});

type DependencyTool = ToolDefinition<typeof DependencyInput, ToolContext>;

const SHARED = { input: DependencyInput, effect: 'write', concurrencySafe: false, idempotent: true } as const;

/** `add_task_dependency_kandev`: for the task's own sessions, its direct parent and operators. */
export function addTaskDependencyTool(services: ToolServices): DependencyTool {
  return {
    ...SHARED,
    name: 'add_task_dependency_kandev',
    title: 'Add dependency',
    description:
      'Makes a task wait for another: it starts no turn until that one has completed; a turn that runs goes on. A task that fails or is cancelled releases nothing. ' +
      'Returns task_id, blocked, blocked_reason and depends_on; the same again changes nothing. A cycle is refused with its path.',
    execute: async ({ task_id: id, depends_on_task_id: blockerId }, execution) =>
      toResult(await services.tasks.addDependency(callerOf(execution), id, blockerId)),
  };
}

/** `remove_task_dependency_kandev`: for the same callers. */
export function removeTaskDependencyTool(services: ToolServices): DependencyTool {
  return {
    ...SHARED,
    name: 'remove_task_dependency_kandev',
    title: 'Remove dependency',
    description:
      'Ends a dependency: the task no longer waits for the other one. When nothing else holds it, the work that waits in its queue starts. Use it when blocked_reason names a task that will not complete. ' +
      'Returns task_id, blocked, blocked_reason and depends_on; the same again changes nothing.',
    execute: async ({ task_id: id, depends_on_task_id: blockerId }, execution) =>
      toResult(await services.tasks.removeDependency(callerOf(execution), id, blockerId)),
  };
}
