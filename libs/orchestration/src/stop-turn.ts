/** Stopping an unfinished turn (K18): a running one carries the mark to its next safe boundary, any other is taken down at once. */
import { cancelTurnWaits, isLeaseLive, requestStop, type SessionRow, type TaskRow, type TurnRow } from '@echelon/persistence';
import { tearDownTurn } from './ending.js';
import type { Unit } from './unit-of-work.js';

/**
 * Stops the turn; the caller holds the locks of its task and session. A turn that is marked already is left as it is. Returns whether the
 * task has come to rest with it.
 */
export async function stopTurn(
  unit: Unit,
  held: { readonly task: TaskRow; readonly session: SessionRow; readonly turn: TurnRow },
  detail: string,
): Promise<boolean> {
  const { session, turn } = held;
  if (turn.status === 'finished') return false;
  const runs = session.lease_owner !== null && turn.parked_for === null && (await isLeaseLive(unit, session.id));
  if (!runs) return tearDownTurn(unit, held, detail);
  if (turn.stop_requested_at) return false;
  await requestStop(unit, turn.id);
  await cancelTurnWaits(unit, turn.id);
  return false;
}
