/** Asks one hook once, by a command or over HTTP. */
import type { Hook } from '@echelon/contracts';
import { askCommand } from './ask-command.js';
import { askUrl } from './ask-url.js';
import type { HookReply, HookRequest } from './hook-reply.js';

const NAME_CHARACTERS = 80;

/** Never rejects for what a hook does or is; after an abort the reply means nothing. */
export function askHook(hook: Hook, request: HookRequest): Promise<HookReply> {
  if (hook.command !== undefined) return askCommand({ ...hook, command: hook.command }, request);
  if (hook.url !== undefined) return askUrl({ ...hook, url: hook.url }, request);
  throw new Error('a hook has neither a command nor a url');
}

/** How people recognise a hook: the program with its arguments, or the address without its query. */
export function nameHook({ command, url }: Hook): string {
  if (url !== undefined) return `POST ${url.replace(/[?#].*$/, '')}`;
  const text = typeof command === 'string' ? command : (command ?? []).join(' ');
  return text.length <= NAME_CHARACTERS ? text : `${text.slice(0, NAME_CHARACTERS)}…`;
}
