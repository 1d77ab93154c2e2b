/** `echelon queue …`: what waits in a session's queue, and changing it. */
import type { QueueEntry } from '@echelon/contracts';
import type { Command } from 'commander';
import { ENTRY, SESSION, textOf, wholeNumber } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { print, table, type Terminal } from './terminal.js';

interface Common extends ConnectionOptions {
  readonly json?: boolean;
}

export function addQueueCommand(program: Command, terminal: Terminal): void {
  const queue = program.command('queue').description('read and change what waits in a session’s queue');
  queue
    .command('list')
    .description('list the waiting entries in the order of their delivery')
    .argument('<session>', 'session id', SESSION)
    .action(async (session: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const page = await connect(options).sessions.listQueue(session, { limit: 200 });
      print(terminal, options.json, page, () => (page.items.length === 0 ? ['Nothing waits.'] : table(page.items.map(summarize))));
    });
  queue
    .command('edit')
    .description('replace the text of an operator’s message that still waits')
    .argument('<session>', 'session id', SESSION)
    .argument('<entry>', 'entry id', ENTRY)
    .requiredOption('--text <text>', 'the new text', textOf('--text'))
    .requiredOption('--revision <number>', 'the revision that you read', wholeNumber('--revision'))
    .action(async (session: string, entry: string, _options: unknown, command: Command) => {
      const options: Common & { text: string; revision: number } = command.optsWithGlobals();
      const { text, revision } = options;
      show(terminal, options, await connect(options).sessions.editQueueEntry(session, entry, { text, revision }));
    });
  queue
    .command('remove')
    .description('take a waiting message or alert out')
    .argument('<session>', 'session id', SESSION)
    .argument('<entry>', 'entry id', ENTRY)
    .action(async (session: string, entry: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      show(terminal, options, await connect(options).sessions.removeQueueEntry(session, entry));
    });
  queue
    .command('move')
    .description('put a waiting entry elsewhere among those of its rank')
    .argument('<session>', 'session id', SESSION)
    .argument('<entry>', 'entry id', ENTRY)
    .option('--before <entry>', 'a waiting entry of the same rank (default: behind all of them)', ENTRY)
    .action(async (session: string, entry: string, _options: unknown, command: Command) => {
      const options: Common & { before?: string } = command.optsWithGlobals();
      show(terminal, options, await connect(options).sessions.moveQueueEntry(session, entry, { before: options.before ?? null }));
    });
  addSwitch(queue, terminal, { name: 'pause', on: false, description: 'keep entries queued until the queue is resumed' });
  addSwitch(queue, terminal, { name: 'resume', on: true, description: 'deliver the waiting entries again' });
}

interface Switch {
  readonly name: string;
  readonly on: boolean;
  readonly description: string;
}

function addSwitch(queue: Command, terminal: Terminal, { name, on, description }: Switch): void {
  queue
    .command(name)
    .description(description)
    .argument('<session>', 'session id', SESSION)
    .action(async (session: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const changed = await connect(options).sessions.setAutoRun(session, on);
      print(terminal, options.json, changed, () => [`${changed.id}  auto_run ${changed.auto_run ? 'on' : 'off'}`]);
    });
}

function show(terminal: Terminal, options: Common, entry: QueueEntry): void {
  print(terminal, options.json, entry, () => table([summarize(entry)]));
}

function summarize(entry: QueueEntry): readonly string[] {
  return [entry.id, `rank ${entry.rank}`, entry.kind, entry.state, `revision ${entry.revision}`, entry.text.split('\n')[0] ?? ''];
}
