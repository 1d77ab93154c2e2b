/** `echelon notification …`: what operators were told. */
import type { Notification } from '@echelon/contracts';
import type { Command } from 'commander';
import { idOf } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { print, table, type Terminal } from './terminal.js';

interface Common extends ConnectionOptions {
  readonly json?: boolean;
}

export function addNotificationCommand(program: Command, terminal: Terminal): void {
  const notification = program.command('notification').description('read and acknowledge what operators were told');
  notification
    .command('list')
    .description('list notifications that nobody acknowledged')
    .option('--all', 'acknowledged ones, too')
    .action(async (_options: unknown, command: Command) => {
      const options: Common & { all?: boolean } = command.optsWithGlobals();
      const page = await connect(options).notifications.list({ all: options.all ?? false });
      print(terminal, options.json, page, () => (page.items.length === 0 ? ['No notifications.'] : table(page.items.map(summarize))));
    });
  notification
    .command('acknowledge')
    .description('mark a notification as seen')
    .argument('<notification>', 'notification id', idOf('notification', 'notification list'))
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const seen = await connect(options).notifications.acknowledge(id);
      print(terminal, options.json, seen, () => table([summarize(seen)]));
    });
}

function summarize(told: Notification): readonly string[] {
  return [
    told.id,
    told.reason,
    `task ${told.task_id}`,
    `question ${told.question_id ?? '-'}`,
    told.acknowledged_at ? 'acknowledged' : 'new',
  ];
}
