/** What a call would do, for the person who is asked: commands whole, changes of files by their lines. */
import type { ApprovalRequest } from '@echelon/agent-session';
import { toPlain } from './plain-text.js';

/** Lines of a change that are shown; a command is never cut. */
const CHANGE_LINES = 40;

export function describeCall({ input, tool }: ApprovalRequest): string {
  const { command, old_string: oldText, new_string: newText, content, prompt } = input;
  if (typeof command === 'string') return toPlain(command);
  if (typeof oldText === 'string' && typeof newText === 'string') return [...mark('- ', oldText), ...mark('+ ', newText)].join('\n');
  if (typeof content === 'string') return mark('+ ', content).join('\n');
  if (typeof prompt === 'string') return toPlain(prompt);
  return toPlain(`${tool} ${JSON.stringify(input)}`);
}

function mark(sign: string, text: string): readonly string[] {
  const lines = toPlain(text).replace(/\n$/, '').split('\n');
  const shown = lines.slice(0, CHANGE_LINES).map((line) => sign + line);
  return lines.length > CHANGE_LINES ? [...shown, `  … ${lines.length - CHANGE_LINES} more lines`] : shown;
}
