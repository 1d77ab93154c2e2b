/** Tasks as they are shown: the row, and what is derived from other rows at every reading (V1). */
import type { Blocker, TaskState } from '@echelon/domain';
import type { Tx } from '../database.js';
import type { Keyset, PageOf } from '../keyset.js';
import type { TaskRow } from '../rows.js';

export interface TaskView extends TaskRow {
  readonly primary_session_id: string | null;
  /** Tasks that it depends on, the oldest dependency first. */
  readonly blockers: readonly Blocker[];
  readonly workflow_id: string | null;
  readonly workflow_step_name: string | null;
  /** Pending questions, to the parent or to the operator, and pending approvals. */
  readonly open_questions: number;
  readonly open_approvals: number;
}

/** An approval belongs to an unfinished turn, so that only such turns are searched; a question need not have a turn. */
const VIEW = `
SELECT t.*, p.workflow_id, p.name AS workflow_step_name,
  (SELECT s.id FROM session s WHERE s.task_id = t.id AND s.is_primary) AS primary_session_id,
  coalesce((SELECT json_agg(json_build_object('id', b.id, 'state', b.state, 'archived', b.archived_at IS NOT NULL) ORDER BY d.created_at, b.id)
     FROM task_dependency d JOIN task b ON b.id = d.blocked_by_id WHERE d.task_id = t.id), '[]') AS blockers,
  (SELECT count(*)::int FROM session s JOIN message q ON q.session_id = s.id AND q.type = 'parent_question' AND q.metadata->>'status' = 'pending'
     WHERE s.task_id = t.id)
   + (SELECT count(*)::int FROM session s JOIN message q ON q.session_id = s.id AND q.type = 'user_question' AND q.metadata->>'status' = 'pending'
     WHERE s.task_id = t.id) AS open_questions,
  (SELECT count(*)::int FROM session s JOIN turn u ON u.session_id = s.id AND u.status <> 'finished'
     JOIN approval a ON a.turn_id = u.id AND a.state = 'pending' WHERE s.task_id = t.id) AS open_approvals
FROM task t LEFT JOIN workflow_step p ON p.id = t.workflow_step_id`;

export async function readTask(tx: Tx, id: string): Promise<TaskView | null> {
  const [row] = await tx.query<TaskView>(`${VIEW} WHERE t.id = $1 AND t.deleted_at IS NULL`, [id]);
  return row ?? null;
}

export interface TaskFilter extends PageOf<Keyset> {
  readonly workspaceId: string | null;
  readonly parentId: string | null;
  readonly rootsOnly: boolean;
  readonly state: TaskState | null;
  readonly includeArchived: boolean;
  readonly workflowId: string | null;
  readonly workflowStepId: string | null;
  /** Part of a title, in any case. */
  readonly title: string | null;
}

/** Tasks from new to old. */
export function readTasks(tx: Tx, filter: TaskFilter): Promise<readonly TaskView[]> {
  return tx.query<TaskView>(
    `${VIEW} WHERE t.deleted_at IS NULL AND ($1::uuid IS NULL OR t.workspace_id = $1) AND ($2::uuid IS NULL OR t.parent_id = $2) AND (NOT $3 OR t.parent_id IS NULL)
       AND ($4::text IS NULL OR t.state = $4) AND ($5 OR t.archived_at IS NULL) AND ($6::text IS NULL OR t.title ILIKE $6)
       AND ($7::timestamptz IS NULL OR (t.created_at, t.id) < ($7, $8::uuid))
       AND ($10::uuid IS NULL OR p.workflow_id = $10) AND ($11::uuid IS NULL OR t.workflow_step_id = $11)
     ORDER BY t.created_at DESC, t.id DESC LIMIT $9`,
    [
      filter.workspaceId,
      filter.parentId,
      filter.rootsOnly,
      filter.state,
      filter.includeArchived,
      filter.title === null ? null : `%${filter.title.replaceAll(/[\\%_]/g, '\\$&')}%`,
      filter.after?.createdAt ?? null,
      filter.after?.id ?? null,
      filter.take,
      filter.workflowId,
      filter.workflowStepId,
    ],
  );
}

export type TaskRelation = 'parent' | 'child' | 'sibling' | 'blocked_by' | 'blocks';

/** Tasks around one, oldest first; archived ones are left out, except a parent and blockers. */
export function readRelatedTasks(tx: Tx, id: string): Promise<readonly (TaskView & { readonly relation: TaskRelation })[]> {
  return tx.query(
    `WITH self AS (SELECT id, parent_id FROM task WHERE id = $1), related AS (
       SELECT 'parent' AS relation, p.id FROM self JOIN task p ON p.id = self.parent_id
       UNION ALL SELECT 'child', c.id FROM self JOIN task c ON c.parent_id = self.id WHERE c.archived_at IS NULL
       UNION ALL SELECT 'sibling', b.id FROM self JOIN task b ON b.parent_id = self.parent_id AND b.id <> self.id WHERE b.archived_at IS NULL
       UNION ALL SELECT 'blocked_by', d.blocked_by_id FROM task_dependency d WHERE d.task_id = $1
       UNION ALL SELECT 'blocks', d.task_id FROM task_dependency d JOIN task b ON b.id = d.task_id AND b.archived_at IS NULL WHERE d.blocked_by_id = $1)
     SELECT related.relation, v.* FROM related JOIN LATERAL (${VIEW} WHERE t.id = related.id AND t.deleted_at IS NULL) v ON true ORDER BY v.created_at, v.id`,
    [id],
  );
}
