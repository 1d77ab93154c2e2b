/** `echelon acp`: an agent for editors, over the Agent Client Protocol on stdin and stdout (docs/acp.md). */
import type { Command } from 'commander';
import { addSessionOptions, type LocalOptions, openLocalSetup } from '../local/local-options.js';
import type { Terminal } from '../terminal.js';

export function addAcpCommand(program: Command, terminal: Terminal): void {
  const command = program.command('acp').description('be an agent for an editor, over the Agent Client Protocol on stdin and stdout');
  addSessionOptions(command).action(async (_options: unknown, invoked: Command) => {
    const setup = await openLocalSetup(invoked.optsWithGlobals<LocalOptions>());
    try {
      const { serveAcp } = await import('./serve-acp.js');
      await serveAcp(setup, terminal, program.version() ?? '');
    } finally {
      await setup.close();
    }
  });
}
