/**
 * Locks around tasks, for an intention that reaches their parents, their dependents, and children that wait for their answer
 * (K11: tasks by id in one statement, then sessions by id in one statement).
 *
 * F1  Whoever changes a task's parent, asks it a question or opens a session of it holds that task's lock, so the sets found
 *     under the task locks can only shrink until the sessions are locked.
 */
import type { Tx } from '../database.js';
import type { SessionRow } from '../rows.js';

/** Ids of the tasks and of the tasks that depend on them and have not ended, each with its parent. */
export async function listFamilyTaskIds(tx: Tx, taskIds: readonly string[]): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `WITH reached AS (SELECT id, parent_id FROM task WHERE id = ANY($1::uuid[])
       UNION SELECT t.id, t.parent_id FROM task_dependency d JOIN task t ON t.id = d.task_id WHERE d.blocked_by_id = ANY($1::uuid[]) AND t.ended_at IS NULL)
     SELECT id FROM reached UNION SELECT parent_id FROM reached WHERE parent_id IS NOT NULL`,
    [taskIds],
  );
  return rows.map(({ id }) => id);
}

/** Which sessions to lock; every part may be empty. */
export interface SessionSets {
  /** Live sessions of these tasks. */
  readonly liveOf: readonly string[];
  /** Sessions by id, live or not. */
  readonly ids?: readonly string[];
  /** Sessions that wait for an answer of these tasks. */
  readonly waitingFor?: readonly string[];
  /** Sessions whose queue holds a pending question that these tasks asked (S9). */
  readonly askedBy?: readonly string[];
}

/** Locks the sessions of all sets in id order; a row's state is the one after its lock was granted. */
export function lockSessionSets(tx: Tx, sets: SessionSets): Promise<readonly SessionRow[]> {
  return tx.query<SessionRow>(
    `SELECT * FROM session WHERE id = ANY(ARRAY(
       SELECT id FROM session WHERE task_id = ANY($1::uuid[]) AND state NOT IN ('completed', 'failed', 'cancelled')
       UNION SELECT unnest($2::uuid[])
       UNION SELECT session_id FROM message
         WHERE type = 'parent_question' AND metadata->>'status' = 'pending' AND metadata->>'parent_task_id' = ANY($3::text[])
       UNION SELECT e.session_id FROM session s
         JOIN message q ON q.session_id = s.id AND q.type = 'parent_question' AND q.metadata->>'status' = 'pending'
         JOIN queue_entry e ON e.question_id = q.id AND e.kind IN ('question', 'reminder') AND e.state = 'queued'
         WHERE s.task_id = ANY($4::uuid[])))
     AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE`,
    [sets.liveOf, sets.ids ?? [], sets.waitingFor ?? [], sets.askedBy ?? []],
  );
}
