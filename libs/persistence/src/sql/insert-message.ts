import type { OpenTx, Tx } from '../database.js';
import { newId } from '../id.js';
import type { MessageRow } from '../rows.js';
import type { ThreadId } from './thread.js';

export interface NewMessage {
  readonly id?: string;
  readonly sessionId: string;
  readonly turnId: string | null;
  /** Absent: the session's own conversation. */
  readonly threadId?: ThreadId;
  readonly type: string;
  readonly role: MessageRow['role'];
  /** Serialised parts. */
  readonly content: string;
  readonly metadata?: object;
  readonly hidden?: boolean;
}

const INSERT = `
WITH next AS (UPDATE session SET next_sequence = next_sequence + 1 WHERE id = $2 RETURNING workspace_id, next_sequence - 1 AS sequence)
INSERT INTO message (id, workspace_id, session_id, sequence, turn_id, type, role, content, metadata, hidden, thread_id)
SELECT $1, next.workspace_id, $2, next.sequence, $3, $4, $5, $6, $7, $8, $9 FROM next RETURNING *`;

/** Appends a message to a session's conversation; the caller holds the session's lock. */
export async function insertMessage(tx: Tx, message: NewMessage): Promise<MessageRow> {
  const [row] = await tx.query<MessageRow>(INSERT, toValues(message));
  if (!row) throw new Error(`session ${message.sessionId} does not exist`);
  return row;
}

/** The same where nobody needs the row. */
export function sendMessage(tx: OpenTx, message: NewMessage): void {
  tx.send(INSERT, toValues(message));
}

function toValues(message: NewMessage): readonly unknown[] {
  return [
    message.id ?? newId(),
    message.sessionId,
    message.turnId,
    message.type,
    message.role,
    message.content,
    JSON.stringify(message.metadata ?? {}),
    message.hidden ?? false,
    message.threadId ?? null,
  ];
}
