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
import { readTranscripts } from '../thread-transcript.js';
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
  await answerCalls(unit, turn, open);
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

/** Every call has exactly one result, also when nobody is left to run it (autopilot-contract.md §9, 3); that of a subagent says what it had done. */
async function answerCalls(unit: Unit, turn: TurnRow, calls: readonly SettledTurnCall[]): Promise<void> {
  const begun = calls.filter((call) => call.thread_id === null && call.state === 'unknown' && call.effect === 'agent');
  const transcripts = await readTranscripts(
    unit,
    turn.id,
    begun.map(({ call_id }) => call_id),
  );
  for (const call of calls) {
    const transcript = call.thread_id === null ? transcripts.get(call.call_id) : undefined;
    answerCall(unit, turn, call, transcript === undefined ? call.result : `${call.result}\n\n${transcript}`);
  }
}

function answerCall(unit: Unit, turn: TurnRow, call: SettledTurnCall, text: string): void {
  sendMessage(unit, {
    sessionId: turn.session_id,
    turnId: turn.id,
    threadId: call.thread_id,
    type: 'tool_result',
    role: 'tool',
    content: serializeParts([{ type: 'tool_result', call_id: call.call_id, name: call.name, text, is_error: true }]),
    metadata: { status: call.state, ends_turn: false },
  });
}
