/** Live pieces of a turn, for people: sent over the bus, never stored, never replayed (K15). */
import type { LoopEvent } from '@echelon/agent-loop';
import type { LiveEvent } from '@echelon/contracts';
import { type ClaimedTurn, liveTopic } from '@echelon/orchestration';
import type { EventBus } from '@echelon/messaging';

type Piece = Pick<LiveEvent, 'type' | 'text'>;

/** Returns the event sink of one turn; offsets count characters of the current attempt's text. */
export function publishLive(bus: EventBus, { task, session, turn }: ClaimedTurn): (event: LoopEvent) => void {
  const topic = liveTopic(session.id);
  const offsets: Record<LiveEvent['type'], number> = { 'text-delta': 0, 'thought-delta': 0, 'tool-output': 0, 'attempt-abandoned': 0 };
  const about = { workspace_id: session.workspace_id, task_id: task.id, session_id: session.id, turn_id: turn.id, message_id: null };
  return (event) => {
    const piece = pieceOf(event);
    if (!piece) return;
    const live: LiveEvent = { ...about, ...piece, offset: offsets[piece.type] };
    offsets[piece.type] += piece.text.length;
    if (piece.type === 'attempt-abandoned') Object.assign(offsets, { 'text-delta': 0, 'thought-delta': 0 });
    bus.publish([{ topic, payload: JSON.stringify(live) }]);
  };
}

function pieceOf(event: LoopEvent): Piece | null {
  switch (event.type) {
    case 'content':
      return { type: 'text-delta', text: event.text };
    case 'thought':
      return { type: 'thought-delta', text: event.text };
    case 'tool_output':
      return { type: 'tool-output', text: event.chunk };
    case 'attempt_abandoned':
      return { type: 'attempt-abandoned', text: '' };
    default:
      return null;
  }
}
