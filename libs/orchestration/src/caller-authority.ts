/** Whether an agent may act on tasks: its session lives, its turn may act, and what it acts on is below its own task. */
import { refuse, type Refusal, sessionMachine } from '@echelon/domain';
import { findSession, listLineage, type TaskRow, type Tx } from '@echelon/persistence';
import type { Actor } from './actor.js';
import { refuseEndedTurn } from './turn-authority.js';

/** The session to lock with the others before `refuseCaller` is asked: its turn then ends before this transaction or after it. */
export function sessionOf(actor: Actor): readonly string[] {
  return actor.kind === 'agent' ? [actor.sessionId] : [];
}

/**
 * Refuses an agent whose session or turn has ended, or whose own task a cascade takes down. `locked` holds the caller's task,
 * so that an end of it is either seen here or waits for the commit.
 */
export async function refuseCaller(tx: Tx, actor: Actor, locked: readonly TaskRow[]): Promise<Refusal | null> {
  if (actor.kind === 'operator') return null;
  const [session, refusal] = await Promise.all([findSession(tx, actor.sessionId), refuseEndedTurn(tx, actor)]);
  if (!session || sessionMachine.isTerminal(session.state)) return refuse('SESSION_TERMINAL');
  if (locked.some((task) => task.id === actor.taskId && task.stopping)) return refuse('TASK_STOPPING');
  return refusal;
}

/** Refuses an agent for a task that is not its own or below it; `own: false` leaves only those below. */
export async function refuseOutsider(tx: Tx, actor: Actor, task: TaskRow, { own }: { readonly own: boolean }): Promise<Refusal | null> {
  if (actor.kind === 'operator') return null;
  if (task.id === actor.taskId) return own ? null : refuse('FORBIDDEN', { rule: 'not your own task' });
  return (await listLineage(tx, task.id)).includes(actor.taskId) ? null : refuse('FORBIDDEN', { rule: 'your own task or a task below it' });
}
