/** The plan of a task, and what calls under a key wrote. Writers hold the task's lock. */
import type { Tx } from '../database.js';

export interface PlanRow {
  readonly task_id: string;
  readonly workspace_id: string;
  readonly title: string;
  /** `null` once the plan was deleted; the row stays for its revision. */
  readonly content: string | null;
  readonly revision: number;
  readonly updated_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A plan that is there. */
export type StoredPlan = PlanRow & { readonly content: string };

export interface PlanWriteRow {
  readonly body_hash: Buffer;
  readonly revision: number;
}

interface TaskKey {
  readonly taskId: string;
  readonly workspaceId: string;
}

/** The row of the task's plan, a deleted one included. */
export async function findPlan(tx: Tx, taskId: string): Promise<PlanRow | null> {
  const [row] = await tx.query<PlanRow>('SELECT * FROM task_plan WHERE task_id = $1', [taskId]);
  return row ?? null;
}

/** Writes the plan over the revision that was read, 0 where there was no row; `null` when somebody wrote since. */
export async function writePlan(
  tx: Tx,
  plan: TaskKey & { readonly title: string; readonly content: string; readonly over: number; readonly by: string },
): Promise<PlanRow | null> {
  const [row] = await tx.query<PlanRow>(
    `INSERT INTO task_plan AS p (task_id, workspace_id, title, content, updated_by) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (task_id) DO UPDATE SET title = $3, content = $4, updated_by = $5, revision = p.revision + 1, updated_at = now(),
       created_at = CASE WHEN p.content IS NULL THEN now() ELSE p.created_at END
     WHERE p.revision = $6 RETURNING *`,
    [plan.taskId, plan.workspaceId, plan.title, plan.content, plan.by, plan.over],
  );
  return row ?? null;
}

/** Empties the plan; `null` when there is none. */
export async function deletePlan(tx: Tx, taskId: string, by: string): Promise<PlanRow | null> {
  const [row] = await tx.query<PlanRow>(
    `UPDATE task_plan SET title = '', content = NULL, updated_by = $2, revision = revision + 1, updated_at = now()
     WHERE task_id = $1 AND content IS NOT NULL RETURNING *`,
    [taskId, by],
  );
  return row ?? null;
}

/** What a call under this key wrote to the task's plan. */
export async function findPlanWrite(tx: Tx, taskId: string, keyHash: Buffer): Promise<PlanWriteRow | null> {
  const [row] = await tx.query<PlanWriteRow>('SELECT body_hash, revision FROM task_plan_write WHERE task_id = $1 AND key_hash = $2', [
    taskId,
    keyHash,
  ]);
  return row ?? null;
}

/** Remembers what a call under a key wrote. */
export async function insertPlanWrite(tx: Tx, write: TaskKey & PlanWriteRow & { readonly keyHash: Buffer }): Promise<void> {
  await tx.query('INSERT INTO task_plan_write (task_id, workspace_id, key_hash, body_hash, revision) VALUES ($1, $2, $3, $4, $5)', [
    write.taskId,
    write.workspaceId,
    write.keyHash,
    write.body_hash,
    write.revision,
  ]);
}
