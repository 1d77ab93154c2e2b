/** New sessions of a task. The caller holds the task's lock. */
import type { RuntimeKind, SessionKind } from '@echelon/domain';
import type { Tx } from '../database.js';
import { newId } from '../id.js';
import type { SessionRow } from '../rows.js';

export interface NewSession {
  readonly workspaceId: string;
  readonly taskId: string;
  readonly kind: SessionKind;
  readonly name: string;
  readonly primary: boolean;
  readonly runtime: RuntimeKind;
  readonly profileId: string;
}

/** Takes the mark from the task's primary session, for a new one to have it. */
export async function releasePrimary(tx: Tx, taskId: string): Promise<void> {
  await tx.query('UPDATE session SET is_primary = false, updated_at = now() WHERE task_id = $1 AND is_primary', [taskId]);
}

/** Sessions of the task that have not ended, and those other than its first that were started within a minute. */
export async function countSessions(tx: Tx, taskId: string): Promise<{ readonly live: number; readonly recent: number }> {
  const [row] = await tx.query<{ live: number; recent: number }>(
    `SELECT count(*) FILTER (WHERE s.state NOT IN ('completed', 'failed', 'cancelled'))::int AS live,
       count(*) FILTER (WHERE s.created_at > t.created_at AND s.created_at > now() - interval '1 minute')::int AS recent
     FROM session s JOIN task t ON t.id = s.task_id WHERE s.task_id = $1`,
    [taskId],
  );
  return row ?? { live: 0, recent: 0 };
}

/** Stores a session; a task has one primary session at most. */
export async function insertSession(tx: Tx, session: NewSession): Promise<SessionRow> {
  const [row] = await tx.query<SessionRow>(
    `INSERT INTO session (id, workspace_id, task_id, kind, name, is_primary, runtime, profile_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *`,
    [newId(), session.workspaceId, session.taskId, session.kind, session.name, session.primary, session.runtime, session.profileId],
  );
  if (!row) throw new Error('an insert returned no row');
  return row;
}
