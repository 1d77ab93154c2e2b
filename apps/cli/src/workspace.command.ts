/** `echelon workspace …`: the workspaces that organise tasks and agent profiles. */
import type { Workspace } from '@echelon/contracts';
import type { Command } from 'commander';
import { textOf, WORKSPACE } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { addPaging, describePage, type PagingOptions, toPageQuery } from './paging.js';
import { print, table, type Terminal } from './terminal.js';

interface Common extends ConnectionOptions {
  readonly json?: boolean;
}

export function addWorkspaceCommand(program: Command, terminal: Terminal): void {
  const workspace = program.command('workspace').description('list, create and show workspaces');
  addPaging(workspace.command('list').description('list workspaces, newest first')).action(async (_options: unknown, command: Command) => {
    const options: Common & PagingOptions = command.optsWithGlobals();
    const page = await connect(options).workspaces.list(toPageQuery(options));
    print(terminal, options.json, page, () => describePage(page, summarize, 'No workspaces.'));
  });
  workspace
    .command('create')
    .description('create a workspace; its tasks need an agent profile of it (echelon profile create)')
    .argument('<name>', 'its name', textOf('The name'))
    .action(async (name: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const created = await connect(options).workspaces.create({ name });
      print(terminal, options.json, created, () => table([summarize(created)]));
    });
  workspace
    .command('show')
    .description('show one workspace')
    .argument('<workspace>', 'workspace id', WORKSPACE)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const found = await connect(options).workspaces.get(id);
      print(terminal, options.json, found, () => table(Object.entries(found)));
    });
}

function summarize({ id, name }: Workspace): readonly string[] {
  return [id, name];
}
