/** Notifications of operators. */
import type { Tx } from '../database.js';
import { newId } from '../id.js';
import type { Keyset, PageOf } from '../keyset.js';

export interface NotificationRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly task_id: string;
  readonly session_id: string | null;
  readonly question_id: string | null;
  readonly reason: 'question_unanswered' | 'question_to_paused_parent';
  readonly created_at: Date;
  readonly acknowledged_at: Date | null;
}

export interface NewNotification {
  readonly workspaceId: string;
  readonly taskId: string;
  readonly sessionId: string | null;
  readonly questionId: string;
  readonly reason: NotificationRow['reason'];
}

/** Stores the one notification of a question; `null` when there was one before: the row is what says so, and it stays. */
export async function insertNotification(tx: Tx, notification: NewNotification): Promise<NotificationRow | null> {
  const { workspaceId, taskId, sessionId, questionId, reason } = notification;
  const [row] = await tx.query<NotificationRow>(
    `INSERT INTO operator_notification (id, workspace_id, task_id, session_id, question_id, reason) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (question_id) DO NOTHING RETURNING *`,
    [newId(), workspaceId, taskId, sessionId, questionId, reason],
  );
  return row ?? null;
}

/** Notifications from new to old; `open`: those that nobody acknowledged. */
export function listNotifications(
  tx: Tx,
  filter: { readonly workspaceId: string | null; readonly open: boolean },
  page: PageOf<Keyset>,
): Promise<readonly NotificationRow[]> {
  return tx.query<NotificationRow>(
    `SELECT * FROM operator_notification WHERE ($1::uuid IS NULL OR workspace_id = $1) AND (NOT $2 OR acknowledged_at IS NULL)
       AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::uuid))
     ORDER BY created_at DESC, id DESC LIMIT $5`,
    [filter.workspaceId, filter.open, page.after?.createdAt ?? null, page.after?.id ?? null, page.take],
  );
}

/** Marks a notification as seen. `changed` is false when somebody did before; `null` when there is none. */
export async function acknowledgeNotification(
  tx: Tx,
  id: string,
  by: string,
): Promise<{ readonly row: NotificationRow; readonly changed: boolean } | null> {
  const [changed] = await tx.query<NotificationRow>(
    'UPDATE operator_notification SET acknowledged_at = now(), acknowledged_by = $2 WHERE id = $1 AND acknowledged_at IS NULL RETURNING *',
    [id, by],
  );
  if (changed) return { row: changed, changed: true };
  const [row] = await tx.query<NotificationRow>('SELECT * FROM operator_notification WHERE id = $1', [id]);
  return row ? { row, changed: false } : null;
}
