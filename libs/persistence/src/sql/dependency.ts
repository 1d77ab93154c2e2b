/** Statements about dependencies between tasks. Those of a task that exists change under its workspace's structure lock (K20); a new task closes no cycle. */
import { type DependencyEdge, RELEASING_STATES } from '@echelon/domain';
import type { Tx } from '../database.js';
import type { TaskRow } from '../rows.js';

/** Every dependency that can be reached from a task along its blockers. */
export function listUpstream(tx: Tx, id: string): Promise<readonly DependencyEdge[]> {
  return tx.query<DependencyEdge>(
    `WITH RECURSIVE upstream(id) AS (
       SELECT $1::uuid UNION SELECT d.blocked_by_id FROM task_dependency d JOIN upstream u ON d.task_id = u.id)
     SELECT d.task_id AS "taskId", d.blocked_by_id AS "blockedById" FROM task_dependency d JOIN upstream u ON d.task_id = u.id
     ORDER BY d.created_at, d.blocked_by_id`,
    [id],
  );
}

/** The tasks that block a task, the oldest dependency first. */
export function listBlockers(tx: Tx, taskId: string): Promise<readonly TaskRow[]> {
  return tx.query<TaskRow>(
    `SELECT b.* FROM task_dependency d JOIN task b ON b.id = d.blocked_by_id WHERE d.task_id = $1 ORDER BY d.created_at, b.id`,
    [taskId],
  );
}

/** Tasks that depend on this one, have not ended, and wait for no other. */
export function listReleasedBy(tx: Tx, taskId: string): Promise<readonly TaskRow[]> {
  return tx.query<TaskRow>(
    `SELECT t.* FROM task_dependency d JOIN task t ON t.id = d.task_id
     WHERE d.blocked_by_id = $1 AND t.ended_at IS NULL AND NOT EXISTS (
       SELECT 1 FROM task_dependency o JOIN task b ON b.id = o.blocked_by_id WHERE o.task_id = t.id AND b.state <> ALL($2::text[]))
     ORDER BY t.id`,
    [taskId, RELEASING_STATES],
  );
}

/** Tasks that depend on this one and go on otherwise: neither ended nor archived. */
export function listDependents(tx: Tx, taskId: string): Promise<readonly TaskRow[]> {
  return tx.query<TaskRow>(
    `SELECT t.* FROM task_dependency d JOIN task t ON t.id = d.task_id
     WHERE d.blocked_by_id = $1 AND t.ended_at IS NULL AND t.archived_at IS NULL AND t.deleted_at IS NULL ORDER BY t.id`,
    [taskId],
  );
}

/** Stores dependencies of a task. The caller holds the blockers' locks, so that none ends unseen. */
export async function insertDependencies(tx: Tx, taskId: string, blockedBy: readonly string[]): Promise<void> {
  if (blockedBy.length === 0) return;
  await tx.query('INSERT INTO task_dependency (task_id, blocked_by_id) SELECT $1, unnest($2::uuid[])', [taskId, blockedBy]);
}

/** Takes a dependency away; `false` where there was none. */
export async function deleteDependency(tx: Tx, taskId: string, blockedById: string): Promise<boolean> {
  const rows = await tx.query('DELETE FROM task_dependency WHERE task_id = $1 AND blocked_by_id = $2 RETURNING task_id', [
    taskId,
    blockedById,
  ]);
  return rows.length > 0;
}

/** Tasks above a task, and above every task that waits for it. */
export async function listAboveWaiting(tx: Tx, taskId: string): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `WITH RECURSIVE waiting(id) AS (
       SELECT $1::uuid UNION SELECT d.task_id FROM task_dependency d JOIN waiting w ON d.blocked_by_id = w.id),
     above(id) AS (
       SELECT t.parent_id FROM waiting w JOIN task t ON t.id = w.id
       UNION SELECT t.parent_id FROM above a JOIN task t ON t.id = a.id)
     SELECT id FROM above WHERE id IS NOT NULL`,
    [taskId],
  );
  return rows.map((row) => row.id);
}

/** The first of `above` that is among the tasks or that one of them waits for, also through others; `null` where there is none. */
export async function findWaitedFor(tx: Tx, taskIds: readonly string[], above: readonly string[]): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(
    `WITH RECURSIVE upstream(id) AS (
       SELECT unnest($1::uuid[]) UNION SELECT d.blocked_by_id FROM task_dependency d JOIN upstream u ON d.task_id = u.id)
     SELECT id FROM upstream WHERE id = ANY($2::uuid[]) ORDER BY id LIMIT 1`,
    [taskIds, above],
  );
  return row?.id ?? null;
}

/** One of the tasks that waits directly for one of the others; `null` where there is none. */
export async function findWaiting(tx: Tx, taskIds: readonly string[], blockerIds: readonly string[]): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(
    'SELECT task_id AS id FROM task_dependency WHERE task_id = ANY($1::uuid[]) AND blocked_by_id = ANY($2::uuid[]) ORDER BY task_id LIMIT 1',
    [taskIds, blockerIds],
  );
  return row?.id ?? null;
}
