/** Opening the turn of a queue entry, under the session's lock and its lease (K3, K5). */
import {
  beginTurn,
  findEntry,
  newId,
  openTurn,
  type QueueEntryRow,
  sendMessage,
  type SessionRow,
  type TaskRow,
  type TurnRow,
} from '@echelon/persistence';
import { contractOf, toKeptContract } from './contract.service.js';
import { serializeText } from './message-content.js';
import { tellChange } from './session-queue.js';
import type { Unit } from './unit-of-work.js';

/** Whose turn it is, both rows under their locks. */
interface Opening {
  readonly task: TaskRow;
  readonly session: SessionRow;
}

/** Delivers the entry: its turn runs, its text is the turn's opening message, and what the session may do now holds to its end (D5). */
export async function openEntryTurn(unit: Unit, { task, session }: Opening, entryId: string): Promise<TurnRow> {
  const [id, contract] = [newId(), toKeptContract(contractOf(task, session))];
  const [, turn, entry] = await Promise.all([
    openTurn(unit, { id, sessionId: session.id, entryId, contract }),
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
