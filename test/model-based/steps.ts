/** The steps of a sequence: what it begins with, what its draws mean, and how it ends. */
import type { Command, NamedCommand } from './commands.js';
import { type Draw, toCommand } from './draw.js';
import { isEnded, type Model, nextWork, openTurn } from './model.js';

/** Every sequence begins with a root and two levels under autopilot below it, all told what to do. */
const CREATE = { do: 'create', by: { kind: 'operator' }, starts: true } as const;
export const PREFIX: readonly NamedCommand[] = [
  { ...CREATE, name: 'root', parent: null, autopilot: false },
  { ...CREATE, name: 'child', parent: 'root', autopilot: true },
  { ...CREATE, name: 'leaf', parent: 'child', autopilot: true },
];

/** The commands of a step; the draws that mean nothing now are left out. */
export function understand(m: Model, draws: readonly Draw[], at: number): readonly NamedCommand[] {
  const commands = draws.map((draw, index) => ({ command: toCommand(m, draw, `s${at}.${index}`), name: `s${at}.${index}` }));
  return commands.flatMap(({ command, name }) => (command && (draws.length === 1 || isAtomic(command)) ? [{ ...command, name }] : []));
}

/**
 * One transaction and one operation: what has more may be seen half done by what runs beside it. Nor is anything beside what takes away
 * or renumbers what others name: tasks, or places in a queue (`test/interleavings` has these).
 */
function isAtomic(command: NonNullable<ReturnType<typeof toCommand>>): boolean {
  return !ALONE.includes(command.do) && !(command.do === 'stop_task' && command.cascade);
}

export const ALONE: readonly Command['do'][] = ['open_session', 'spawn', 'delete', 'move_entry'];

/** So many commands are enough to do what is left. */
export const DRAINED_AFTER = 500;

/** What the next worker does when nothing else comes; null once nobody has work. */
export function nextToDrain(m: Model, at: number): NamedCommand | null {
  const command = nextFor(m);
  return command && { ...command, name: `d${at}` };
}

function nextFor(m: Model): Command | null {
  for (const session of m.sessions.filter((one) => !isEnded(one))) {
    const { name, lease, epoch } = session;
    if (lease === 'void') return { do: 'sweep', session: name };
    if (lease === 'live') return { do: 'end', session: name, epoch, how: 'completed', drains: true };
    if (openTurn(session)?.isBackingOff) return { do: 'back_off_passes', session: name };
    if (nextWork(m, session)) return { do: 'claim', session: name };
  }
  return null;
}
