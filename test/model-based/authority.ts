/** Who may do what, as the contract says it. */
import type { Command, Who } from './commands.js';
import { isEnded, isWithin, type Model, named, openTurn } from './model.js';

type Case<Kind> = Extract<Command, { readonly do: Kind }> & { readonly name: string };
export type Predictions<Kind extends Command['do'] = Command['do']> = { readonly [K in Kind]: (m: Model, command: Case<K>) => string };

export const taskOf = (m: Model, by: Extract<Who, { readonly kind: 'agent' }>): string => named(m.sessions, by.session).task;
export const senderOf = (m: Model, by: Who): string => (by.kind === 'operator' ? 'operator' : taskOf(m, by));

export function refuseTurn(m: Model, by: Who): string | null {
  if (by.kind === 'operator') return null;
  const session = named(m.sessions, by.session);
  const turn = openTurn(session);
  if (by.turn !== null && (!turn || session.turns.length - 1 !== by.turn)) return 'TURN_NOT_ACTIVE';
  if (turn?.isStopping) return 'TURN_STOPPING';
  return turn?.asked ? 'TURN_ENDED_BY_QUESTION' : null;
}

export function refuseCaller(m: Model, by: Who): string | null {
  if (by.kind === 'agent' && isEnded(named(m.sessions, by.session))) return 'SESSION_TERMINAL';
  return refuseTurn(m, by);
}

/** An agent archives what is below its own task, never that itself. */
export function refuseOutsider(m: Model, by: Who, task: string): string | null {
  if (by.kind === 'operator') return null;
  const own = taskOf(m, by);
  return task !== own && isWithin(m, task, own) ? null : 'FORBIDDEN';
}
