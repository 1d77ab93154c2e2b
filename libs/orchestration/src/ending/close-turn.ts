import type { TurnOutcome } from '@echelon/domain';
import { cancelTurnWaits, finishTurn, insertMessage, type SessionRow, settleTurnCalls, type TurnRow } from '@echelon/persistence';
import { serializeParts } from '../message-content.js';
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
  await answerOpenCalls(unit, turn);
  await unit.tell({
    workspaceId: session.workspace_id,
    type: 'turn.finished',
    taskId: session.task_id,
    sessionId: session.id,
    data: { turn_id: turn.id, number: turn.number, outcome: end.outcome },
  });
}

/** Every call has exactly one result, also when nobody is left to run it (autopilot-contract.md §9, 3). */
async function answerOpenCalls(unit: Unit, turn: TurnRow): Promise<void> {
  for (const call of await settleTurnCalls(unit, turn.id)) {
    await insertMessage(unit, {
      sessionId: turn.session_id,
      turnId: turn.id,
      type: 'tool_result',
      role: 'tool',
      content: serializeParts([{ type: 'tool_result', call_id: call.call_id, name: call.name, text: call.result, is_error: true }]),
      metadata: { status: call.state, ends_turn: false },
    });
  }
}
