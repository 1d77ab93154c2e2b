/** `echelon up`: server and worker in one process, on the embedded Postgres unless the configuration names another. */
import { stopSignal, untilAborted } from '@echelon/platform/start';
import type { Command } from 'commander';
import { EXIT } from './exit-code.js';
import type { RunningServer } from './running-server.js';
import type { Terminal } from './terminal.js';

export function addUpCommand(program: Command, terminal: Terminal): void {
  program
    .command('up')
    .description('start server and worker in one process')
    .action((_options: unknown, command: Command) => runUp(terminal, command.optsWithGlobals<{ json?: boolean }>().json === true));
}

async function runUp(terminal: Terminal, json: boolean): Promise<void> {
  const stopping = stopSignal();
  if (!json) terminal.err.write('Starting Echelon …\n');
  const { startServer } = await import('./running-server.js');
  const running = await startServer();
  greet(terminal, running, json);
  const ended = await Promise.race([untilAborted(stopping).then(() => 'stopped'), running.gone.then(() => 'gone')]);
  if (ended === 'gone') abandon(terminal);
  if (!json) terminal.err.write('\nStopping …\n');
  await running.close();
}

/** Every row is durable and nothing can be written any more, so nothing is closed in order: that would wait for the database. */
function abandon(terminal: Terminal): never {
  terminal.err.write('The embedded Postgres has ended. Start Echelon again: it finds the same data.\n');
  process.exit(EXIT.cannotStart);
}

function greet(terminal: Terminal, { url, first }: RunningServer, json: boolean): void {
  const signIn = first.token ? `${url}/sign-in?token=${first.token}` : null;
  if (json) {
    terminal.out.write(`${JSON.stringify({ url, sign_in_url: signIn, provider: first.provider })}\n`);
    return;
  }
  const lines = [
    `Echelon is up     ${url}`,
    `Sign in           ${signIn ?? 'with the token that the first start printed'}`,
    `API reference     ${url}/api/v1/reference`,
    `MCP endpoint      ${url}/mcp`,
    `Model             ${first.provider ?? 'none yet: set a provider’s key (README, Models)'}`,
    `Next, elsewhere   ${nextStep(first.provider)}`,
    'Stop              Ctrl-C',
  ];
  terminal.out.write(`\n${lines.map((line) => `  ${line}\n`).join('')}\n`);
}

function nextStep(provider: RunningServer['first']['provider']): string {
  return provider && provider !== 'scripted'
    ? 'npm run echelon -- task create "Say hello in hello.txt" --watch'
    : 'npm run echelon -- demo     (four agents on a scripted model, no key needed)';
}
