/** Moving a task along its machine. A move that ends it needs the locks of `lockFamilies`; any other the task's own lock. */
import { isBlocked, refuse, type TaskEvent, taskMachine, type TaskState } from '@echelon/domain';
import {
  countChildOut,
  listBlockers,
  listDependents,
  listLiveSessions,
  listReleasedBy,
  type TaskRow,
  updateTaskState,
} from '@echelon/persistence';
import { Refused } from '../outcome.js';
import { refreshWork } from '../session-queue.js';
import { taskEventData, toBlocker } from '../task-view.js';
import type { Unit } from '../unit-of-work.js';
import { alertChildrenCompleted, alertHalted } from './alert.js';
import { endSessionsOf, type SessionEndState } from './end-session.js';

/**
 * Moves the task; throws `Refused` (STATE_CONFLICT) for an event that its state does not take. A task that ends also ends its
 * sessions, makes its children's questions stale (S3, S4), counts itself out of its parent (K20) and releases what depends on it, or tells
 * of what will wait in vain.
 */
export async function moveTask(unit: Unit, task: TaskRow, event: TaskEvent, facts: { readonly result?: string } = {}): Promise<TaskRow> {
  const to = taskMachine.next(task.state, event);
  if (!to) throw new Refused(refuse('STATE_CONFLICT', { state: task.state, event }));
  if (to === task.state && facts.result === undefined) return task;
  const moved = await updateTaskState(unit, task.id, { from: task.state, to, ended: taskMachine.isTerminal(to), result: facts.result });
  if (!moved) throw new Refused(refuse('STATE_CONFLICT', { state: task.state, event }));
  await tellMove(unit, moved);
  const sessions = endStateOf(to);
  if (sessions) await endTask(unit, moved, sessions);
  return moved;
}

function endStateOf(state: TaskState): SessionEndState | null {
  return state === 'completed' || state === 'failed' || state === 'cancelled' ? state : null;
}

async function endTask(unit: Unit, task: TaskRow, sessions: SessionEndState): Promise<void> {
  await endSessionsOf(unit, task.id, sessions, 'task_ended');
  if (task.parent_id) await leaveParent(unit, task.parent_id);
  for (const dependent of await listReleasedBy(unit, task.id)) await followDependencies(unit, dependent);
  if (task.state !== 'completed') await haltDependents(unit, task.id);
}

/** Tells of every task that depends on one that will not complete: as a change of it, and to its parent. */
export async function haltDependents(unit: Unit, blockerId: string): Promise<void> {
  for (const dependent of await listDependents(unit, blockerId)) {
    await tellMove(unit, dependent);
    await alertHalted(unit, dependent);
  }
}

/** Counts a child out of the parent that it will not come back to; the last of a set tells the parent (K20). */
export async function leaveParent(unit: Unit, parentId: string): Promise<void> {
  const parent = await countChildOut(unit, parentId);
  if (parent?.open_children === 0) await alertChildrenCompleted(unit, parent);
}

/**
 * Brings a task's state and its sessions' work in line with its dependencies, whose locks and the task's own are held with those of
 * its live sessions: a task that has not started is `blocked` or `ready`, one that has started keeps its state and is held between turns.
 */
export async function followDependencies(unit: Unit, task: TaskRow): Promise<TaskRow> {
  const blocked = isBlocked(task.state, (await listBlockers(unit, task.id)).map(toBlocker));
  const event = blocked ? 'block' : 'unblock';
  const moved = taskMachine.next(task.state, event) ? await moveTask(unit, task, event) : task;
  for (const session of await listLiveSessions(unit, task.id)) await refreshWork(unit, session.id);
  return moved;
}

function tellMove(unit: Unit, task: TaskRow): Promise<void> {
  return unit.tell({ workspaceId: task.workspace_id, type: 'task.updated', taskId: task.id, sessionId: null, data: taskEventData(task) });
}
