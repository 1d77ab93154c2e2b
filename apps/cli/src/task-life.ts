/** `echelon task spawn | attach | detach | archive | unarchive | delete`: the life of a task and of its sessions. */
import { randomUUID } from 'node:crypto';
import type { SpawnSession } from '@echelon/contracts';
import { type Command, Option } from 'commander';
import { PROFILE, TASK, textOf, usage } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { print, type Terminal } from './terminal.js';

interface Common extends ConnectionOptions {
  readonly json?: boolean;
}

interface SpawnOptions extends Common {
  readonly profile?: string;
  readonly kind: SpawnSession['kind'];
  readonly name?: string;
  readonly primary?: boolean;
  readonly key?: string;
}

export function addTaskLife(task: Command, terminal: Terminal): void {
  addSpawn(task, terminal);
  addStructure(task, terminal);
  task
    .command('archive')
    .description('end a task’s sessions and take it out of the lists; nothing is deleted')
    .argument('<task>', 'task id', TASK)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const archived = await connect(options).tasks.archive(id);
      print(terminal, options.json, archived, () => [archived.already_archived ? 'archived before' : 'archived']);
    });
  task
    .command('unarchive')
    .description('take a task out of the archive; its sessions stay ended')
    .argument('<task>', 'task id', TASK)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const unarchived = await connect(options).tasks.unarchive(id);
      print(terminal, options.json, unarchived, () => [unarchived.state]);
    });
  addDelete(task, terminal);
}

function addDelete(task: Command, terminal: Terminal): void {
  task
    .command('delete')
    .description('delete a task for good, with its conversation and its folder; the tasks below it become roots')
    .argument('<task>', 'task id', TASK)
    .option('--cascade', 'delete every task below it, too')
    .option('--yes', 'delete it: there is no way back')
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common & { cascade?: boolean; yes?: boolean } = command.optsWithGlobals();
      if (!options.yes)
        throw usage('Nothing was deleted, since there is no way back: add --yes. To put a task away, use echelon task archive.');
      const deleted = await connect(options).tasks.delete(id, { cascade: options.cascade === true });
      const detached = deleted.detached.length === 0 ? [] : [`now roots: ${deleted.detached.join(', ')}`];
      print(terminal, options.json, deleted, () => [
        deleted.already_deleted ? 'deleted before' : `deleted ${deleted.deleted}`,
        ...detached,
      ]);
    });
}

function addStructure(task: Command, terminal: Terminal): void {
  const reparent = async (id: string, parent: string | null, options: Common) => {
    const moved = await connect(options).tasks.reparent(id, parent);
    print(terminal, options.json, moved, () => [moved.parent_id ? `below ${moved.parent_id}` : 'a root']);
  };
  task
    .command('attach')
    .description('put a task, with all below it, under another parent; a question to the old one is void')
    .argument('<task>', 'task id', TASK)
    .argument('<parent>', 'task id of the new parent', TASK)
    .action((id: string, parent: string, _options: unknown, command: Command) => reparent(id, parent, command.optsWithGlobals()));
  task
    .command('detach')
    .description('take a task away from its parent; a question to it is void')
    .argument('<task>', 'task id', TASK)
    .action((id: string, _options: unknown, command: Command) => reparent(id, null, command.optsWithGlobals()));
}

function addSpawn(task: Command, terminal: Terminal): void {
  task
    .command('spawn')
    .description('start another session of a task; it becomes the primary one when the present one has ended')
    .argument('<task>', 'task id', TASK)
    .argument('[prompt]', 'what the new agent is to do; the task’s prompt where left out', textOf('The prompt'))
    .option('--profile <id>', 'agent profile; the task’s where left out', PROFILE)
    .addOption(new Option('--kind <kind>', 'what the session is for').choices(['task', 'quick_chat', 'config', 'utility']).default('task'))
    .option('--name <name>', 'a short name', textOf('--name'))
    .option('--primary', 'make it the primary session now')
    .option('--key <key>', 'idempotency key: the same key starts once', textOf('--key'))
    .action(async (id: string, prompt: string | undefined, _options: unknown, command: Command) => {
      const options: SpawnOptions = command.optsWithGlobals();
      const input = {
        kind: options.kind,
        make_primary: options.primary === true,
        ...(prompt ? { prompt } : {}),
        ...(options.profile ? { profile_id: options.profile } : {}),
        ...(options.name ? { name: options.name } : {}),
      };
      const spawned = await connect(options).tasks.spawnSession(id, input, { idempotencyKey: options.key ?? randomUUID() });
      print(terminal, options.json, spawned, () => [`${spawned.id}${spawned.is_primary ? '  primary' : ''}`]);
    });
}
