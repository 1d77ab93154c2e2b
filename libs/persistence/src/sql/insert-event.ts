import type { Tx } from '../database.js';
import { newId } from '../id.js';

export interface NewEvent {
  readonly workspaceId: string;
  readonly type: string;
  readonly taskId: string | null;
  readonly sessionId: string | null;
  readonly data: object;
}

/** Stores a durable event with the change that it tells of; the sequencer gives it its position after the commit (K15). */
export async function insertEvent(tx: Tx, event: NewEvent): Promise<void> {
  await tx.query('INSERT INTO event (id, workspace_id, type, task_id, session_id, payload) VALUES ($1, $2, $3, $4, $5, $6)', [
    newId(),
    event.workspaceId,
    event.type,
    event.taskId,
    event.sessionId,
    JSON.stringify(event.data),
  ]);
}
