import type { TaskState } from '@echelon/domain';
import type { Tx } from '../database.js';
import type { SessionRow, TaskRow } from '../rows.js';
import { insertSession, type NewSession } from './insert-session.js';

export interface NewTask {
  readonly id: string;
  readonly workspaceId: string;
  readonly parentId: string | null;
  readonly depth: number;
  readonly title: string;
  readonly titleSource: 'provisional' | 'manual';
  readonly prompt: string;
  readonly autopilot: boolean;
  readonly state: TaskState;
  readonly profileId: string;
  readonly workspaceMode: TaskRow['workspace_mode'];
  readonly folder: string;
  readonly startWhenUnblocked: boolean;
  readonly createdBySessionId: string | null;
  readonly idempotency: CreationKey | null;
  /** The step that it starts in. */
  readonly workflowStepId?: string | null;
}

/** Whose key it is, and the hashes of key and body (K16). */
export interface CreationKey {
  readonly scope: string;
  readonly keyHash: Buffer;
  readonly bodyHash: Buffer;
}

/** Stores a task; `null` when another transaction stored one under the same key first. */
export async function insertTask(tx: Tx, task: NewTask): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>(
    `INSERT INTO task (id, workspace_id, parent_id, depth, title, title_source, prompt, autopilot, state, profile_id, workspace_mode, folder,
       start_when_unblocked, created_by_session_id, idempotency_scope, idempotency_key_hash, idempotency_body_hash,
       workflow_step_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
     ON CONFLICT (idempotency_scope, idempotency_key_hash) DO NOTHING RETURNING *`,
    [
      task.id,
      task.workspaceId,
      task.parentId,
      task.depth,
      task.title,
      task.titleSource,
      task.prompt,
      task.autopilot,
      task.state,
      task.profileId,
      task.workspaceMode,
      task.folder,
      task.startWhenUnblocked,
      task.createdBySessionId,
      task.idempotency?.scope ?? null,
      task.idempotency?.keyHash ?? null,
      task.idempotency?.bodyHash ?? null,
      task.workflowStepId ?? null,
    ],
  );
  return row ?? null;
}

/** The task that was created under a key, if any; one that was deleted, until its rows are gone. */
export async function findTaskByKey(tx: Tx, key: CreationKey): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>('SELECT * FROM task WHERE idempotency_scope = $1 AND idempotency_key_hash = $2', [
    key.scope,
    key.keyHash,
  ]);
  return row ?? null;
}

/** Counts a new open child of a locked parent; the first of a set opens the next set (K20). */
export async function countChildIn(tx: Tx, parentId: string): Promise<void> {
  await tx.query(
    `UPDATE task SET open_children = open_children + 1, child_set = child_set + CASE WHEN open_children = 0 THEN 1 ELSE 0 END, updated_at = now()
     WHERE id = $1`,
    [parentId],
  );
}

/** Stores a task's primary session, of kind `task`. */
export function insertPrimarySession(
  tx: Tx,
  session: Pick<NewSession, 'workspaceId' | 'taskId' | 'runtime' | 'profileId'>,
): Promise<SessionRow> {
  return insertSession(tx, { ...session, kind: 'task', name: '', primary: true });
}
