/** `echelon task plan`: the plan of a task, and the line that `task show` has of it. */
import type { ApiClient } from '@echelon/api-client';
import type { FoundTaskPlan } from '@echelon/contracts';
import type { Command } from 'commander';
import { TASK } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { print, type Terminal } from './terminal.js';

export function addTaskPlan(task: Command, terminal: Terminal): void {
  task
    .command('plan')
    .description('print the plan of a task')
    .argument('<task>', 'task id', TASK)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: ConnectionOptions & { readonly json?: boolean } = command.optsWithGlobals();
      const found = await connect(options).tasks.getPlan(id);
      print(terminal, options.json, found, () => [found.plan?.content ?? 'No plan.']);
    });
}

/** The plan without its text, or `null`. */
export async function summarizePlan(
  api: ApiClient,
  id: string,
): Promise<Pick<NonNullable<FoundTaskPlan['plan']>, 'title' | 'revision'> | null> {
  const { plan } = await api.tasks.getPlan(id);
  return plan && { title: plan.title, revision: plan.revision };
}
