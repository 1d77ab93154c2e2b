import type { TurnOutcome } from '@echelon/domain';
import { cancelTurnWaits, finishTurn, type SessionRow, settleTurnCalls, type TurnRow } from '@echelon/persistence';
import type { Unit } from '../unit-of-work.js';

/** Closes a turn with its outcome: what it waited for is cancelled, calls that nobody will finish are settled. Tells of it once. */
export async function closeTurn(
  unit: Unit,
  session: SessionRow,
  turn: TurnRow,
  end: { readonly outcome: TurnOutcome; readonly detail: string | null },
): Promise<void> {
  if (!(await finishTurn(unit, turn.id, end))) return;
  await cancelTurnWaits(unit, turn.id);
  await settleTurnCalls(unit, turn.id);
  await unit.tell({
    workspaceId: session.workspace_id,
    type: 'turn.finished',
    taskId: session.task_id,
    sessionId: session.id,
    data: { turn_id: turn.id, number: turn.number, outcome: end.outcome },
  });
}
