/** `echelon task block | unblock`: what a task waits for. */
import type { TaskDependencies } from '@echelon/contracts';
import type { Command } from 'commander';
import { TASK } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { print, type Terminal } from './terminal.js';

interface DependencyOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly on: string;
}

export function addTaskDependencies(task: Command, terminal: Terminal): void {
  task
    .command('block')
    .description('make a task wait until another has completed; a turn that runs goes on')
    .argument('<task>', 'task id', TASK)
    .requiredOption('--on <task>', 'the task that it waits for', TASK)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: DependencyOptions = command.optsWithGlobals();
      const left = await connect(options).tasks.addDependency(id, options.on);
      print(terminal, options.json, left, () => describe(left));
    });
  task
    .command('unblock')
    .description('make a task wait for another no longer; what waits in its queue starts when nothing else holds it')
    .argument('<task>', 'task id', TASK)
    .requiredOption('--on <task>', 'the task that it waited for', TASK)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: DependencyOptions = command.optsWithGlobals();
      const left = await connect(options).tasks.removeDependency(id, options.on);
      print(terminal, options.json, left, () => describe(left));
    });
}

function describe({ blocked, blocked_reason: reason, depends_on: dependsOn }: TaskDependencies): readonly string[] {
  return [blocked ? 'blocked' : 'not blocked', ...dependsOn.map((id) => `depends on ${id}`), ...(reason ? [reason] : [])];
}
