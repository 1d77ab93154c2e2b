/** What a command line may say, checked before the server is asked: whatever breaks a rule is wrong usage, in one sentence. */
import { Id } from '@echelon/contracts';
import { CommandError, EXIT } from './exit-code.js';

const SHOWN = 40;

/** A parser of a full id of `what`, such as `task`; `where` is the command that shows such ids. */
export function idOf(what: string, where?: string): (given: string) => string {
  const hint = where ? `; echelon ${where} shows them` : '';
  return (given) => {
    if (Id.safeParse(given).success) return given;
    throw usage(`${quote(given)} is no ${what} id: ids are 36 characters long, like 01a22a24-dfc3-73b2-8e05-0536619969eb${hint}.`);
  };
}

/** The same for an argument that repeats. */
function idsOf(what: string, where?: string): (given: string, before?: readonly string[]) => readonly string[] {
  const parse = idOf(what, where);
  return (given, before = []) => [...before, parse(given)];
}

/** A parser of text that says something; `what` names it, such as `The prompt`. */
export function textOf(what: string): (given: string) => string {
  return (given) => {
    if (given.trim() !== '') return given;
    throw usage(`${what} is empty.`);
  };
}

/** A parser of a whole number from 1 on. */
export function wholeNumber(what: string, most = Number.MAX_SAFE_INTEGER): (given: string) => number {
  return (given) => {
    const number = /^\d+$/.test(given) ? Number(given) : 0;
    if (number >= 1 && number <= most) return number;
    const range = most === Number.MAX_SAFE_INTEGER ? 'from 1 on' : `from 1 to ${most}`;
    throw usage(`${what} is a whole number ${range}, not ${quote(given)}.`);
  };
}

/** Wrong usage, as a failure. */
export function usage(sentence: string): CommandError {
  return new CommandError(sentence, EXIT.usage);
}

export const TASK = idOf('task', 'task list');
export const TASKS = idsOf('task', 'task list');
export const PROFILE = idOf('profile', 'profile list');
export const WORKSPACE = idOf('workspace', 'workspace list');
export const WORKFLOW = idOf('workflow', 'workflow list');
export const SESSION = idOf('session', 'task show');
export const ENTRY = idOf('queue entry', 'queue list');
export const QUESTION = idOf('question', 'question list');

function quote(given: string): string {
  return JSON.stringify(given.length <= SHOWN ? given : `${given.slice(0, SHOWN)}…`);
}
