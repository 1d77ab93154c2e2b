/** Opening the turn of a queue entry, under the session's lock and its lease (K3, K5). */
import {
  beginTurn,
  findEntry,
  newId,
  openTurn,
  type QueueEntryRow,
  sendMessage,
  type SessionRow,
  type TurnRow,
} from '@echelon/persistence';
import { serializeText } from './message-content.js';
import { tellChange } from './session-queue.js';
import type { Unit } from './unit-of-work.js';

/** Delivers the entry: its turn runs and its text is the turn's opening message. */
export async function openEntryTurn(unit: Unit, session: SessionRow, entryId: string): Promise<TurnRow> {
  const id = newId();
  const [, turn, entry] = await Promise.all([
    openTurn(unit, { id, sessionId: session.id, entryId }),
    beginTurn(unit, id),
    findEntry(unit, entryId),
  ]);
  if (!entry) throw new Error(`entry ${entryId} vanished under its session's lock`);
  sendMessage(unit, {
    sessionId: session.id,
    turnId: turn.id,
    type: 'prompt',
    role: 'user',
    content: serializeText(entry.text),
    metadata: openingMetadata(entry),
  });
  const about = { workspaceId: session.workspace_id, taskId: session.task_id, sessionId: session.id };
  await tellChange(unit, entry);
  await unit.tell({
    ...about,
    type: 'turn.started',
    data: { turn_id: turn.id, number: turn.number, kind: entry.kind, waited_ms: waitOf(entry) },
  });
  return turn;
}

/** From the entry's commit to its turn, by the database's clock. */
function waitOf({ created_at, settled_at }: QueueEntryRow): number {
  return Math.max(0, (settled_at?.getTime() ?? created_at.getTime()) - created_at.getTime());
}

function openingMetadata(entry: QueueEntryRow): object {
  return {
    entry_id: entry.id,
    kind: entry.kind,
    sender_kind: entry.sender_kind,
    sender_task_id: entry.sender_task_id,
    sender_session_id: entry.sender_session_id,
    question_id: entry.question_id,
  };
}
