/** A turn of an agent over ACP that died in its middle: what it did is not known, and its prompt is never sent again by itself. */
import { findEntry, setCause, type TurnRow } from '@echelon/persistence';
import { interruptedTurnText } from './message-text.js';
import { enqueue } from './session-queue.js';
import type { Unit } from './unit-of-work.js';

const CAUSE = 'interrupted_turn';

/**
 * Tells the session's agent of it with one notice, which opens its next turn; a turn that such a notice had opened is told of no more,
 * so that an agent that always crashes comes to rest.
 */
export async function tellInterrupted(unit: Unit, turn: Pick<TurnRow, 'session_id' | 'opening_entry_id'>): Promise<void> {
  const opening = await findEntry(unit, turn.opening_entry_id);
  if (!opening || opening.cause === CAUSE) return;
  const text = interruptedTurnText(opening);
  const { entry } = await enqueue(unit, { sessionId: turn.session_id, rank: 0, kind: 'notice', text, senderKind: 'system' });
  setCause(unit, entry.id, CAUSE);
}
