/** `echelon task move`: the step of a workflow that a task is in. */
import type { ApiClient } from '@echelon/api-client';
import { Id } from '@echelon/contracts';
import type { Command } from 'commander';
import { TASK, textOf, usage } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { print, type Terminal } from './terminal.js';

export function addTaskStep(task: Command, terminal: Terminal): void {
  task
    .command('move')
    .description('move a task to a step of a workflow; while its turn runs it moves when the turn ends')
    .argument('<task>', 'task id', TASK)
    .argument('<step>', 'step id, or the name of a step of the task’s own workflow', textOf('The step'))
    .action(async (id: string, step: string, _options: unknown, command: Command) => {
      const options: ConnectionOptions & { readonly json?: boolean } = command.optsWithGlobals();
      const api = connect(options);
      const moved = await api.tasks.move(id, { workflow_step_id: await findStepId(api, id, step) });
      const place = moved.workflow_step?.name ?? 'no step';
      print(terminal, options.json, moved, () => [
        moved.deferred ? `deferred: its turn runs; it is in ${place} until that ends` : `in ${place}`,
      ]);
    });
}

async function findStepId(api: ApiClient, taskId: string, given: string): Promise<string> {
  if (Id.safeParse(given).success) return given;
  const { workflow_id: workflowId } = await api.tasks.get(taskId);
  if (workflowId === null) throw usage('The task has no workflow: name the step by its id (echelon workflow show).');
  const { name, steps } = await api.workflows.get(workflowId);
  const step = steps.find((each) => each.name === given);
  if (!step) throw usage(`The workflow ${JSON.stringify(name)} has no such step; it has ${steps.map((each) => each.name).join(', ')}.`);
  return step.id;
}
