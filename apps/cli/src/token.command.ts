/** `echelon token …`: tokens of the operator, and of one session for an agent that somebody else runs. */
import type { Command } from 'commander';
import { idOf, SESSION, TASK, textOf, usage, wholeNumber } from './arguments.js';
import { connect, type ConnectionOptions, locateServer } from './connection.js';
import { print, table, type Terminal } from './terminal.js';

interface IssueOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly label?: string;
  readonly session?: string;
  readonly task?: string;
  readonly expires?: number;
}

export function addTokenCommand(program: Command, terminal: Terminal): void {
  const token = program.command('token').description('issue, list and revoke tokens');
  token
    .command('issue')
    .description('issue a token: of the operator, or with --task or --session of one agent session')
    .option('--label <text>', 'what it is for', textOf('--label'), 'command line')
    .option('--task <id>', 'for the primary session of this task', TASK)
    .option('--session <id>', 'for this session', SESSION)
    .option('--expires <seconds>', 'seconds until it expires; never where left out', wholeNumber('--expires'))
    .action(async (_options: unknown, command: Command) => {
      const options: IssueOptions = command.optsWithGlobals();
      const issued = await issueToken(options);
      const { baseUrl } = locateServer(options);
      print(terminal, options.json, issued, () => [
        issued.secret,
        ...(issued.kind === 'operator' ? [`sign in: ${baseUrl}/sign-in?token=${issued.secret}`] : [`MCP: ${baseUrl}/mcp`]),
      ]);
    });
  token
    .command('list')
    .description('list tokens; secrets are never shown again')
    .action(async (_options: unknown, command: Command) => {
      const options: IssueOptions = command.optsWithGlobals();
      const page = await connect(options).tokens.list({ limit: 200 });
      print(terminal, options.json, page, () =>
        table(page.items.map((item) => [item.id, item.kind, item.revoked_at ? 'revoked' : 'valid', item.label])),
      );
    });
  token
    .command('revoke')
    .description('revoke a token')
    .argument('<token>', 'token id', idOf('token', 'token list'))
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: IssueOptions = command.optsWithGlobals();
      const revoked = await connect(options).tokens.revoke(id);
      print(terminal, options.json, revoked, () => [`${revoked.id} is revoked`]);
    });
}

/** Issues the token that the options describe. */
export function issueToken(options: IssueOptions) {
  if (options.task && options.session) throw usage('Give --task or --session, not both.');
  const owner = options.task ? { task_id: options.task } : options.session ? { session_id: options.session } : {};
  return connect(options).tokens.issue({
    kind: options.task || options.session ? 'session' : 'operator',
    label: options.label ?? 'command line',
    ...owner,
    ...(options.expires ? { expires_in_seconds: options.expires } : {}),
  });
}
