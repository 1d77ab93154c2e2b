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
  addGrants(workspace, terminal);
}

/** Messages between workspaces: refused, unless an operator has granted them. */
function addGrants(workspace: Command, terminal: Terminal): void {
  workspace
    .command('grants')
    .description('list the workspaces that a workspace’s tasks may send messages to')
    .argument('<workspace>', 'workspace id', WORKSPACE)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const { items } = await connect(options).workspaces.listGrants(id);
      print(terminal, options.json, { items }, () => (items.length === 0 ? ['No grants.'] : items.map((grant) => grant.to_workspace_id)));
    });
  workspace
    .command('grant')
    .description('let a workspace’s tasks send messages to another one’s')
    .argument('<workspace>', 'workspace id', WORKSPACE)
    .argument('<to>', 'id of the other workspace', WORKSPACE)
    .action(async (id: string, to: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const granted = await connect(options).workspaces.grant(id, to);
      print(terminal, options.json, granted, () => ['granted']);
    });
  workspace
    .command('revoke')
    .description('take such a grant back')
    .argument('<workspace>', 'workspace id', WORKSPACE)
    .argument('<to>', 'id of the other workspace', WORKSPACE)
    .action(async (id: string, to: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const revoked = await connect(options).workspaces.revokeGrant(id, to);
      print(terminal, options.json, revoked, () => ['revoked']);
    });
}

function summarize({ id, name }: Workspace): readonly string[] {
  return [id, name];
}
