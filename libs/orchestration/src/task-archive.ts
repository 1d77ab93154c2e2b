/** The archive: a mark beside the state. An archived task runs nothing, takes no children and is counted by no parent. */
import { isRefusal, type Refusal, taskMachine } from '@echelon/domain';
import { countChildIn, findTask, insertAudit, lockTasks, setArchived, type TaskRow } from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { refuseCaller, refuseOutsider } from './caller-authority.js';
import { endSessionsOf, haltDependents, leaveParent, lockFamilies, moveTask } from './ending.js';
import { inScope } from './scope.js';
import { taskEventData } from './task-view.js';
import type { Unit } from './unit-of-work.js';

/** Whether this call moved the task into or out of the archive. */
export interface ArchiveChange {
  readonly changed: boolean;
}

/**
 * Archives a task, for an operator or an agent above it: its live sessions are cancelled, one that was active rests in review, its
 * own questions are stale, its children's too, and these children are told (S3, S4). A second time changes nothing.
 */
export async function archiveTask(unit: Unit, actor: Actor, id: string): Promise<ArchiveChange | Refusal> {
  const family = await lockFamilies(unit, actor.kind === 'agent' ? [id, actor.taskId] : [id]);
  const task = await checkAuthority(unit, actor, family.tasks.get(id));
  if (isRefusal(task)) return task;
  const archived = await setArchived(unit, id, true);
  if (!archived) return { changed: false };
  await endSessionsOf(unit, id, 'cancelled', 'task_archived');
  if (task.state === 'in_progress' || task.state === 'waiting') await moveTask(unit, task, 'rest');
  if (task.parent_id && !taskMachine.isTerminal(task.state)) await leaveParent(unit, task.parent_id);
  if (!taskMachine.isTerminal(task.state)) await haltDependents(unit, id);
  await record(unit, actor, archived, 'task.archive');
  return { changed: true };
}

/** Takes a task out of the archive; its sessions stay ended. A second time changes nothing. */
export async function unarchiveTask(unit: Unit, actor: Actor, id: string): Promise<ArchiveChange | Refusal> {
  const found = await findTask(unit, id);
  const ids = [id, found?.parent_id, actor.kind === 'agent' ? actor.taskId : null].filter((each) => typeof each === 'string');
  const locked = await lockTasks(unit, ids);
  const task = await checkAuthority(
    unit,
    actor,
    locked.find((each) => each.id === id),
  );
  if (isRefusal(task)) return task;
  const unarchived = await setArchived(unit, id, false);
  if (!unarchived) return { changed: false };
  if (task.parent_id && !taskMachine.isTerminal(task.state)) await countChildIn(unit, task.parent_id);
  await record(unit, actor, unarchived, 'task.unarchive');
  return { changed: true };
}

async function checkAuthority(unit: Unit, actor: Actor, row: TaskRow | undefined): Promise<TaskRow | Refusal> {
  const task = inScope(actor, row);
  if (isRefusal(task)) return task;
  const refusal = (await refuseOutsider(unit, actor, task, { own: false })) ?? (await refuseCaller(unit, actor, []));
  return refusal ?? task;
}

async function record(unit: Unit, actor: Actor, task: TaskRow, action: 'task.archive' | 'task.unarchive'): Promise<void> {
  const type = action === 'task.archive' ? 'task.archived' : 'task.updated';
  await unit.tell({ workspaceId: task.workspace_id, type, taskId: task.id, sessionId: null, data: taskEventData(task) });
  await insertAudit(unit, { workspaceId: task.workspace_id, actor: actorName(actor), action, subject: task.id });
}
