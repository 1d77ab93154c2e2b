/** What a line that begins with a slash does. */
import { PermissionModeName } from '../local/settings-file.js';
import type { Chat } from './chat.js';

interface SlashCommand {
  readonly help: string;
  /** May be given while a turn runs. */
  readonly anyTime?: true;
  readonly run: (chat: Chat, argument: string) => void;
}

const MODES = PermissionModeName.options.join(' | ');

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  mode: { help: `/mode ${MODES}: what may run unasked`, anyTime: true, run: setMode },
  lead: { help: '/lead <text>: steer the running turn (Ctrl-L sends what is written as one)', anyTime: true, run: lead },
  retry: { help: '/retry: ask again for what the last turn did not bring', run: (chat) => chat.retry() },
  resume: { help: '/resume: go on with an interrupted turn', run: (chat) => chat.resume() },
  clear: { help: '/clear: a new session', run: (chat) => chat.clear() },
  help: { help: '/help: this', anyTime: true, run: (chat) => chat.notice('info', HELP()) },
  exit: { help: '/exit: stop what runs, and leave (Ctrl-D, or Ctrl-C twice)', anyTime: true, run: (chat) => void chat.leave() },
};

const KEYS = [
  'Enter sends. While a turn runs, what you send joins it after its tools, or opens the next turn.',
  '↑ on an empty line takes back what waits, else goes through what you said. Alt-Enter or Ctrl-J begins a new line.',
  'Esc or Ctrl-C stops the turn and gives back what waits.',
];

const HELP = (): string => [...Object.values(COMMANDS).map(({ help }) => help), ...KEYS].join('\n');

/** Runs a line that begins with a slash; `false` where there is no such command. */
export function runSlashCommand(chat: Chat, line: string): boolean {
  const [, name = '', argument = ''] = /^\/(\w*)\s*([^]*)$/.exec(line) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) chat.notice('warning', `There is no /${name}; /help lists what there is.`);
  else if (chat.isRunning && command.anyTime !== true) chat.notice('warning', `A turn is running: stop it with Esc, then /${name}.`);
  else command.run(chat, argument.trim());
  return command !== undefined;
}

/** A path is no command. */
export function isSlashCommand(text: string): boolean {
  return /^\/\w*(\s|$)/.test(text);
}

function setMode(chat: Chat, argument: string): void {
  const { data: mode } = PermissionModeName.safeParse(argument);
  if (mode === undefined) chat.notice('info', `Mode: ${chat.mode}. There are ${MODES}.`);
  else chat.setMode(mode);
}

function lead(chat: Chat, text: string): void {
  if (text === '') chat.notice('warning', 'Say what to do: /lead <text>.');
  else chat.lead(text);
}
