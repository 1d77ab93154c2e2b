import type { Task, TaskSummary } from '@echelon/contracts';
import { type Blocker, blockedReasonOf, pendingActionOf } from '@echelon/domain';
import type { TaskRow, TaskView } from '@echelon/persistence';

/** A task as it is shown; what waits for a person is derived from the rows at every reading (V1). */
export function toTask(row: TaskView): Task {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    parent_id: row.parent_id,
    depth: row.depth,
    title: row.title,
    title_source: row.title_source,
    prompt: row.prompt,
    autopilot: row.autopilot,
    state: row.state,
    pending_action: pendingActionOf({ questions: row.open_questions, approvals: row.open_approvals }),
    workflow_id: row.workflow_id,
    workflow_step: row.workflow_step_id === null ? null : { id: row.workflow_step_id, name: row.workflow_step_name ?? '' },
    profile_id: row.profile_id,
    workspace_mode: row.workspace_mode,
    primary_session_id: row.primary_session_id,
    open_children: row.open_children,
    blocked_by: row.blockers.map(({ id }) => id),
    blocked_reason: blockedReasonOf(row.state, row.blockers),
    result: row.result,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    archived_at: row.archived_at?.toISOString() ?? null,
  };
}

/** A task in one line. */
export function toTaskSummary(row: TaskView): TaskSummary {
  const { id, title, state, autopilot, pending_action, parent_id } = toTask(row);
  return { id, title, state, autopilot, pending_action, parent_id };
}

/** What a task is to those that depend on it. */
export function toBlocker(row: TaskRow): Blocker {
  return { id: row.id, state: row.state, archived: row.archived_at !== null };
}

/** What an event says of a task: what a list shows, without its texts (F1). */
export function taskEventData(row: TaskRow): object {
  return {
    id: row.id,
    parent_id: row.parent_id,
    depth: row.depth,
    title: row.title,
    title_source: row.title_source,
    autopilot: row.autopilot,
    state: row.state,
    workflow_step_id: row.workflow_step_id,
    archived_at: row.archived_at?.toISOString() ?? null,
  };
}
