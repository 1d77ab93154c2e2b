/** Taking down a turn that nobody runs: parked, or left behind by a lease that is gone (K18). */
import { taskMachine } from '@echelon/domain';
import { countActiveSessions, fenceSession, findPendingQuestion, type SessionRow, type TaskRow, type TurnRow } from '@echelon/persistence';
import { refreshWork } from '../session-queue.js';
import type { Unit } from '../unit-of-work.js';
import { closeTurn } from './close-turn.js';
import { moveTask } from './move-task.js';

/**
 * Closes the turn as `stopped`, fences whoever held it, and rests session and task. The caller holds the locks of both. Returns whether
 * the task has come to rest.
 */
export async function tearDownTurn(
  unit: Unit,
  held: { readonly task: TaskRow; readonly session: SessionRow; readonly turn: TurnRow },
  detail: string,
): Promise<boolean> {
  const { task, session, turn } = held;
  await closeTurn(unit, session, turn, { outcome: 'stopped', detail });
  const waits = (await findPendingQuestion(unit, session.id)) !== null;
  await fenceSession(unit, session.id, waits ? 'waiting_for_input' : 'idle');
  unit.passTurn(task.id, session.id);
  await refreshWork(unit, session.id);
  if ((await countActiveSessions(unit, task.id, session.id)) > 0) return false;
  const event = waits ? 'wait' : 'rest';
  if (taskMachine.next(task.state, event)) await moveTask(unit, task, event);
  return !waits;
}
