/** `list_workflows_kandev`, `list_workflow_steps_kandev`, `move_task_kandev`: the steps that tasks go through. Operators define them. */
import type { ToolDefinition } from '@echelon/agent-loop';
import type { Workflow } from '@echelon/contracts';
import { isRefusal, refuse } from '@echelon/domain';
import { z } from 'zod';
import { exactId, pageArguments, SELF, selfOrId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { refused, toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ListWorkflows = z.strictObject({
  workspace_id: exactId('Only workflows of this workspace; an agent sees its own alone.').optional(),
  ...pageArguments(100),
});
const ListSteps = z.strictObject({ workflow_id: exactId('Full workflow id.') });
const MoveTask = z.strictObject({
  task_id: selfOrId('"self", or the full id of a direct subtask.'),
  workflow_step_id: exactId('The step to move to, from list_workflow_steps_kandev.'),
  workflow_id: exactId('Its workflow, to be sure; refused if the step is of another.').optional(),
});

const READ = { effect: 'read', concurrencySafe: true, idempotent: true } as const;

export function listWorkflowsTool(services: ToolServices): ToolDefinition<typeof ListWorkflows, ToolContext> {
  return {
    ...READ,
    name: 'list_workflows_kandev',
    title: 'List workflows',
    description:
      'Lists the workflows of the workspace: ordered steps that a task goes through. Returns workflow_id, name, is_default and the names of the steps, in pages. ' +
      'Create a task in one with workflow_id, or with "default" for the workspace’s own choice.',
    input: ListWorkflows,
    execute: async (input, execution) =>
      toResult(await services.workflows.list(callerOf(execution), input), ({ items, next_cursor }) => ({
        workflows: items.map(toLine),
        next_cursor,
      })),
  };
}

export function listWorkflowStepsTool(services: ToolServices): ToolDefinition<typeof ListSteps, ToolContext> {
  return {
    ...READ,
    name: 'list_workflow_steps_kandev',
    title: 'List workflow steps',
    description:
      'Lists the steps of a workflow in their order: id, name, what the end of a turn does (on_turn_complete, move_to), whether the step ends only with a completion signal ' +
      '(requires_signal), and its instructions. A completion signal on the last step completes the task.',
    input: ListSteps,
    execute: async ({ workflow_id: id }, execution) =>
      toResult(await services.workflows.get(callerOf(execution), id), ({ name, steps }) => ({ workflow_id: id, name, steps })),
  };
}

/** For the task's own sessions, its direct parent and operators. */
export function moveTaskTool(services: ToolServices): ToolDefinition<typeof MoveTask, ToolContext> {
  return {
    name: 'move_task_kandev',
    title: 'Move task to step',
    description:
      'Moves your own task or a direct subtask to a step of a workflow. While a turn of that task runs, as yours does, the move is deferred: deferred is true, it takes place when ' +
      'the turn ends, and it is void if that turn asks its parent. Instructions of the new step open the task’s next turn. Returns task_id, state, workflow_id, workflow_step and deferred.',
    input: MoveTask,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async ({ task_id: given, ...move }, execution) => {
      const actor = callerOf(execution);
      if (given === SELF && actor.kind === 'operator')
        return refused(refuse('INVALID_INPUT', { field: 'task_id', rule: 'self is for agents: name the task by its id' }));
      const id = given === SELF && actor.kind === 'agent' ? actor.taskId : given;
      const moved = await services.tasks.moveToStep(actor, id, move);
      if (isRefusal(moved)) return refused(moved);
      const { state, workflow_id, workflow_step, deferred } = moved;
      return toResult({ task_id: id, state, workflow_id, workflow_step, deferred });
    },
  };
}

function toLine({ id, name, is_default, steps }: Workflow): object {
  return { workflow_id: id, name, is_default, steps: steps.map((step) => step.name) };
}
