import type { DeliveryMode, EntryKind } from '@echelon/domain';
import type { Tx } from '../database.js';
import { newId } from '../id.js';
import type { QueueEntryRow } from '../rows.js';

export interface NewEntry {
  readonly id?: string;
  readonly sessionId: string;
  readonly rank: number;
  readonly kind: EntryKind;
  readonly text: string;
  readonly senderKind: 'operator' | 'task' | 'system';
  readonly senderTaskId?: string | null;
  readonly senderSessionId?: string | null;
  readonly questionId?: string | null;
  /** The step whose instructions it carries. */
  readonly workflowStepId?: string | null;
  readonly deliveryMode?: DeliveryMode;
  /** Who the key belongs to, the key's hash and the body's hash (K16). */
  readonly idempotency?: { readonly scope: string; readonly keyHash: Buffer; readonly bodyHash: Buffer } | null;
}

const INSERT = `
WITH next AS (UPDATE session SET next_order = next_order + 1 WHERE id = $2 RETURNING workspace_id, next_order - 1 AS "order")
INSERT INTO queue_entry (id, workspace_id, session_id, rank, "order", kind, text, sender_kind, sender_task_id, sender_session_id,
  question_id, delivery_mode, idempotency_scope, idempotency_key_hash, idempotency_body_hash, workflow_step_id)
SELECT $1, next.workspace_id, $2, $3, next."order", $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 FROM next RETURNING *`;

/** Appends an entry to a session's queue; the caller holds the session's lock. */
export async function insertEntry(tx: Tx, entry: NewEntry): Promise<QueueEntryRow> {
  const { idempotency } = entry;
  const [row] = await tx.query<QueueEntryRow>(INSERT, [
    entry.id ?? newId(),
    entry.sessionId,
    entry.rank,
    entry.kind,
    entry.text,
    entry.senderKind,
    entry.senderTaskId ?? null,
    entry.senderSessionId ?? null,
    entry.questionId ?? null,
    entry.deliveryMode ?? 'queued',
    idempotency?.scope ?? null,
    idempotency?.keyHash ?? null,
    idempotency?.bodyHash ?? null,
    entry.workflowStepId ?? null,
  ]);
  if (!row) throw new Error(`session ${entry.sessionId} does not exist`);
  return row;
}
