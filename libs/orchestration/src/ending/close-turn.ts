import type { TurnOutcome } from '@echelon/domain';
import {
  cancelTurnWaits,
  finishTurn,
  sendMessage,
  type SessionRow,
  type SettledTurnCall,
  settleTurnCalls,
  type TurnRow,
} from '@echelon/persistence';
import { serializeParts } from '../message-content.js';
import type { Unit } from '../unit-of-work.js';
import { followDeferredMove } from './enter-step.js';

/**
 * Closes a turn with its outcome: what it waited for is cancelled, calls that nobody will finish are settled, a move that somebody asked
 * for meanwhile takes place, unless the task is over. Tells of it once.
 */
export async function closeTurn(
  unit: Unit,
  session: SessionRow,
  turn: TurnRow,
  end: { readonly outcome: TurnOutcome; readonly detail: string | null; readonly taskOver?: boolean },
): Promise<void> {
  const [finished, , open] = await Promise.all([
    finishTurn(unit, turn.id, end),
    cancelTurnWaits(unit, turn.id),
    settleTurnCalls(unit, turn.id),
  ]);
  if (!finished) return;
  for (const call of open) answerCall(unit, turn, call);
  await unit.tell({
    workspaceId: session.workspace_id,
    type: 'turn.finished',
    taskId: session.task_id,
    sessionId: session.id,
    data: { turn_id: turn.id, number: turn.number, outcome: end.outcome },
  });
  if (finished.deferred_step_id)
    await followDeferredMove(unit, session, finished, { stepId: finished.deferred_step_id, over: end.taskOver ?? false });
}

/** Every call has exactly one result, also when nobody is left to run it (autopilot-contract.md §9, 3). */
function answerCall(unit: Unit, turn: TurnRow, call: SettledTurnCall): void {
  sendMessage(unit, {
    sessionId: turn.session_id,
    turnId: turn.id,
    type: 'tool_result',
    role: 'tool',
    content: serializeParts([{ type: 'tool_result', call_id: call.call_id, name: call.name, text: call.result, is_error: true }]),
    metadata: { status: call.state, ends_turn: false },
  });
}
