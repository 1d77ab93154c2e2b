import type { OpenTx } from '../database.js';
import { newId } from '../id.js';

export interface NewEvent {
  readonly workspaceId: string;
  readonly type: string;
  readonly taskId: string | null;
  readonly sessionId: string | null;
  readonly data: object;
}

const INSERT = `
INSERT INTO event (id, workspace_id, type, task_id, session_id, payload)
SELECT e.id, e.workspace_id, e.type, coalesce(e.task_id, (SELECT s.task_id FROM session s WHERE s.id = e.session_id)), e.session_id, e.payload
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::text[]) AS e(id, workspace_id, type, task_id, session_id, payload)`;

/** Stores durable events with the change that they tell of, in their order; a session's event is its task's too; the sequencer gives them positions after the commit (K15). */
export function sendEvents(tx: OpenTx, events: readonly NewEvent[]): void {
  if (events.length === 0) return;
  tx.send(INSERT, [
    events.map(newId),
    events.map((event) => event.workspaceId),
    events.map((event) => event.type),
    events.map((event) => event.taskId),
    events.map((event) => event.sessionId),
    events.map((event) => JSON.stringify(event.data)),
  ]);
}
