/**
 * Deleting a task: a mark that hides it at once, ended sessions, and rows that go later (operations.md, Deletion; `task-purge.ts`).
 *
 * D1  Without cascade the tasks below it live on: its direct children become roots; what they had asked it is stale, and each is told (S4).
 * D2  A cascade goes top-down, in small transactions. A deleted task takes no children and none is moved away from below it, so that none
 *     escapes (K20); a task whose parent is deleted is deleted in its turn, by the sweep where the process of the cascade died.
 * D3  It counts as cancelled for its parent and for what waits for it: a dependency on it holds until it is removed.
 * D4  Who deleted it may say so again and changes nothing; for everybody else it does not exist.
 */
import type { DeletedTask } from '@echelon/contracts';
import { isRefusal, refuse, type Refusal, taskMachine } from '@echelon/domain';
import {
  cancelEntry,
  ChangedMeanwhile,
  type Database,
  detachChildren,
  findQueuedAlert,
  findTask,
  insertAudit,
  listChildrenOfDeleted,
  listLeftDeletions,
  listSubtree,
  lockStructure,
  lockStructureOf,
  setDeleted,
  type TaskRow,
  wasDeletedBy,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { refuseCaller } from './caller-authority.js';
import { endSessionsOf, leaveParent, lockFamilies, moveTask } from './ending.js';
import type { Outcome } from './outcome.js';
import { inScope } from './scope.js';
import { followChange } from './session-queue.js';
import { taskEventData } from './task-view.js';
import type { Transactions, Unit } from './unit-of-work.js';

const BATCH = 20;
const LEFT_AFTER_SECONDS = 30;

export interface DeleteRequest {
  readonly actor: Actor;
  readonly id: string;
  readonly cascade: boolean;
}

/** Deletes a task for an operator or its direct parent. An agent takes what is below along: detaching is an operator's choice. */
export async function deleteTask(transactions: Transactions, request: DeleteRequest): Promise<Outcome<DeletedTask>> {
  const top = await transactions.run((unit) => deleteTop(unit, request));
  if (isRefusal(top)) return top;
  const below = request.cascade ? await deleteBelow(transactions, request.id, request.actor) : 0;
  return { ...top, deleted: top.deleted + below };
}

/** Finishes cascades that a crash left half-way; returns how many tasks it deleted. The sweep calls it. */
export async function resumeDeletions(database: Database, transactions: Transactions): Promise<number> {
  let deleted = 0;
  for (const top of await listLeftDeletions(database, LEFT_AFTER_SECONDS, BATCH)) deleted += await deleteBelow(transactions, top, null);
  return deleted;
}

async function deleteTop(unit: Unit, { actor, id, cascade }: DeleteRequest): Promise<DeletedTask | Refusal> {
  const seen = inScope(actor, await findTask(unit, id));
  if (isRefusal(seen)) return (await wasDeletedBy(unit, id, actorName(actor))) ? result(id, { already: true }) : seen;
  if (actor.kind === 'agent' && seen.parent_id !== actor.taskId) return refuse('NOT_DIRECT_PARENT');
  await lockStructure(unit, seen.workspace_id);
  const below = cascade ? [] : await listBelow(unit, id);
  if (actor.kind === 'agent' && below.length > 0) return refuse('CONFLICT', { field: 'cascade', rule: 'true where tasks are below it' });
  const { tasks } = await lockFamilies(unit, [id], below);
  if (!cascade && (await listBelow(unit, id)).some((each) => !tasks.has(each))) throw new ChangedMeanwhile('the tasks below a task');
  const task = tasks.get(id);
  if (task?.parent_id !== seen.parent_id) throw new ChangedMeanwhile('a task that is deleted');
  const refusal = await refuseCaller(unit, actor, [...tasks.values()]);
  if (refusal) return refusal;
  const detached = await markDeleted(unit, task, { by: actorName(actor), below: cascade ? null : below });
  return result(id, { detached });
}

/** Tasks that live on without cascade: their depths change, nothing of theirs ends. */
async function listBelow(unit: Unit, id: string): Promise<readonly string[]> {
  return (await listSubtree(unit, id)).flatMap((each) => (each.id === id ? [] : each.id));
}

/** Deletes what is below a deleted task, level by level; returns how many tasks. */
async function deleteBelow(transactions: Transactions, topId: string, actor: Actor | null): Promise<number> {
  let deleted = 0;
  for (let above: readonly string[] = [topId]; above.length > 0;) {
    const level: string[] = [];
    for (let full = true; full;) {
      const batch = await transactions.run((unit) => deleteBatch(unit, { topId, above, actor }));
      level.push(...batch);
      full = batch.length === BATCH;
    }
    deleted += level.length;
    above = level;
  }
  return deleted;
}

interface Batch {
  readonly topId: string;
  /** Deleted tasks of one level. */
  readonly above: readonly string[];
  readonly actor: Actor | null;
}

/** Deletes tasks that are directly below deleted ones; returns them. What these are is read under the lock: a child that has left stays. */
async function deleteBatch(unit: Unit, { topId, above, actor }: Batch): Promise<readonly string[]> {
  await lockStructureOf(unit, topId);
  const children = await listChildrenOfDeleted(unit, above, BATCH);
  if (children.length === 0) return [];
  const { tasks } = await lockFamilies(unit, children);
  const found = children.flatMap((id) => tasks.get(id) ?? []);
  for (const task of found) await markDeleted(unit, task, { by: actor ? actorName(actor) : 'system', below: null });
  return children;
}

/** Marks one task, ends what it ran and what waits for it; `below` are the tasks that live on, `null` with a cascade. Returns its former children. */
async function markDeleted(
  unit: Unit,
  task: TaskRow,
  { by, below }: { readonly by: string; readonly below: readonly string[] | null },
): Promise<readonly string[]> {
  const counted = task.archived_at === null && !taskMachine.isTerminal(task.state);
  await endSessionsOf(unit, task.id, 'cancelled', 'task_deleted');
  const detached = below ? await detach(unit, task, below) : [];
  const deleted = await setDeleted(unit, task.id);
  if (task.parent_id) await withdrawAlert(unit, task.parent_id, task.id);
  if (counted) await moveTask(unit, deleted, 'cancel');
  if (counted && task.parent_id) await leaveParent(unit, task.parent_id);
  for (const id of [...(task.parent_id ? [task.parent_id] : []), ...detached]) unit.passTurn(id);
  const about = { workspaceId: task.workspace_id, taskId: task.id, sessionId: null };
  await unit.tell({ ...about, type: 'task.deleted', data: { parent_id: task.parent_id } });
  const detail = { parent_id: task.parent_id, cascade: below === null, detached };
  await insertAudit(unit, { workspaceId: task.workspace_id, actor: by, action: 'task.delete', subject: task.id, detail });
  return detached;
}

async function detach(unit: Unit, task: TaskRow, below: readonly string[]): Promise<readonly string[]> {
  const children = await detachChildren(unit, task.id, below, task.depth + 1);
  for (const child of children) {
    const about = { workspaceId: child.workspace_id, taskId: child.id, sessionId: null };
    await unit.tell({ ...about, type: 'task.updated', data: taskEventData(child) });
  }
  return children.map(({ id }) => id);
}

/** What the parent was to hear of a task that is gone. */
async function withdrawAlert(unit: Unit, parentId: string, id: string): Promise<void> {
  const alert = await findQueuedAlert(unit, parentId, id);
  const gone = alert && (await cancelEntry(unit, alert.id, 'task_deleted'));
  if (gone) await followChange(unit, [gone]);
}

function result(id: string, { detached = [], already = false }: { detached?: readonly string[]; already?: boolean }): DeletedTask {
  return { task_id: id, deleted: already ? 0 : 1, detached: [...detached], already_deleted: already };
}
