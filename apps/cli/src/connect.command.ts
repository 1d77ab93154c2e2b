/** `echelon connect <client>`: the MCP configuration of a client, printed for copying. */
import { type Command, Argument } from 'commander';
import { SESSION, TASK } from './arguments.js';
import { type ConnectionOptions, locateServer } from './connection.js';
import { issueToken } from './token.command.js';
import { print, type Terminal } from './terminal.js';

interface ConnectOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly task?: string;
  readonly session?: string;
}

interface Endpoint {
  readonly url: string;
  readonly token: string;
}

/** How each client wants to be told of an MCP server. */
const CLIENTS = {
  'claude-code': ({ url, token }: Endpoint) => `claude mcp add --transport http echelon ${url} --header "Authorization: Bearer ${token}"`,
  codex: ({ url, token }: Endpoint) =>
    `# ~/.codex/config.toml\n[mcp_servers.echelon]\nurl = "${url}"\nhttp_headers = { Authorization = "Bearer ${token}" }`,
  qwen: (endpoint: Endpoint) => `# ~/.qwen/settings.json\n${settings(endpoint)}`,
  gemini: (endpoint: Endpoint) => `# ~/.gemini/settings.json\n${settings(endpoint)}`,
} as const;
type Client = keyof typeof CLIENTS;

function settings({ url, token }: Endpoint): string {
  return JSON.stringify({ mcpServers: { echelon: { httpUrl: url, headers: { Authorization: `Bearer ${token}` } } } }, null, 2);
}

export function addConnectCommand(program: Command, terminal: Terminal): void {
  program
    .command('connect')
    .description('print a client’s MCP configuration, with a token of its own')
    .addArgument(new Argument('<client>', 'the client').choices(Object.keys(CLIENTS)))
    .option('--task <id>', 'act as the primary session of this task; as the operator where left out', TASK)
    .option('--session <id>', 'act as this session', SESSION)
    .action(async (client: Client, _options: unknown, command: Command) => {
      const options: ConnectOptions = command.optsWithGlobals();
      const issued = await issueToken({ ...options, label: `connect ${client}` });
      const endpoint: Endpoint = { url: `${locateServer(options).baseUrl}/mcp`, token: issued.secret };
      print(terminal, options.json, { client, ...endpoint, token_id: issued.id }, () => [CLIENTS[client](endpoint)]);
    });
}
