import type { ToolDefinition } from '@echelon/agent-loop';
import type { RelatedTasks } from '@echelon/contracts';
import { refuse } from '@echelon/domain';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { refused, toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ListRelatedTasksInput = z.strictObject({ task_id: exactId('Full task id; left out, your own task.').optional() });

/** `list_related_tasks_kandev`: the tasks around one, and which children wait for its answer. */
export function listRelatedTasksTool(services: ToolServices): ToolDefinition<typeof ListRelatedTasksInput, ToolContext> {
  return {
    name: 'list_related_tasks_kandev',
    title: 'List related tasks',
    description:
      'Shows the tasks around one: parent, children, siblings, blocked_by and blocks, each with id, title, state, autopilot and pending_action. Use it to see how your subtasks ' +
      'stand. A child whose waits_for_parent is true asked its parent and does nothing until the answer; reading that child shows the question.',
    input: ListRelatedTasksInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    polling: true,
    execute: async ({ task_id: given }, execution) => {
      const actor = callerOf(execution);
      const id = given ?? (actor.kind === 'agent' ? actor.taskId : null);
      if (id === null) return refused(refuse('INVALID_INPUT', { field: 'task_id', rule: 'required' }));
      return toResult(await services.tasks.listRelated(actor, id), markWaiting);
    },
  };
}

/** An autopilot task asks nobody but its parent, so that its clarification is one of the parent's. */
function markWaiting(related: RelatedTasks): object {
  const children = related.children.map((child) => ({
    ...child,
    waits_for_parent: child.autopilot && child.pending_action === 'clarification',
  }));
  return { ...related, children };
}
