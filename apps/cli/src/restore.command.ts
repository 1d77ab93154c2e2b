/** `echelon restore`: makes a database into which a dump was restored safe to start on. */
import { readConfig } from '@echelon/platform/start';
import type { Command } from 'commander';
import { print, type Terminal } from './terminal.js';

export function addRestoreCommand(program: Command, terminal: Terminal): void {
  program
    .command('restore')
    .description('after restoring a dump of the database: interrupt what ran, revoke leases, tokens and cursors')
    .action(async (_options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const { restoreDeployment } = await import('@echelon/platform');
      const restored = await restoreDeployment(readConfig());
      print(terminal, json, restored, () => [
        `Interrupted turns  ${restored.interrupted_turns}`,
        `Revoked tokens     ${restored.revoked_tokens}`,
        `Operator's token   ${restored.token ?? 'the first start makes one'}`,
        'Next               npm start',
      ]);
    });
}
