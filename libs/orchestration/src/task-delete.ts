/**
 * Deleting a task: a mark that hides it at once, ended sessions, and rows that go later (operations.md, Deletion; `task-purge.ts`).
 *
 * D1  Without cascade the tasks below it live on: its direct children become roots; what they had asked it is stale, and each is told (S4).
 * D2  A cascade goes top-down, in small transactions. A deleted task takes no children, so that none escapes (K20); a task whose parent
 *     is deleted is deleted in its turn, by the sweep where the process of the cascade died.
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
  listChildIds,
  listLeftDeletions,
  listSubtree,
  lockStructure,
  setDeleted,
  type TaskRow,
  wasDeletedBy,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { refuseCaller } from './caller-authority.js';
import { endSessionsOf, type Family, leaveParent, lockFamilies, moveTask } from './ending.js';
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
  const below = await deleteBelow(transactions, [request.id], request.actor);
  return { ...top, deleted: top.deleted + below };
}

/** Finishes cascades that a crash left half-way; returns how many tasks it deleted. The sweep calls it. */
export async function resumeDeletions(database: Database, transactions: Transactions): Promise<number> {
  const left = await listLeftDeletions(database, LEFT_AFTER_SECONDS, BATCH);
  let deleted = 0;
  for (const id of left) deleted += await transactions.run((unit) => deleteBatch(unit, [id], null));
  return deleted + (await deleteBelow(transactions, left, null));
}

async function deleteTop(unit: Unit, { actor, id, cascade }: DeleteRequest): Promise<DeletedTask | Refusal> {
  const seen = inScope(actor, await findTask(unit, id));
  if (isRefusal(seen)) return (await wasDeletedBy(unit, id, actorName(actor))) ? result(id, { already: true }) : seen;
  await lockStructure(unit, seen.workspace_id);
  const { family, below } = await lockGround(unit, seen, cascade);
  const task = family.tasks.get(id);
  if (!task) throw new ChangedMeanwhile('a task that is deleted');
  if (actor.kind === 'agent' && task.parent_id !== actor.taskId) return refuse('NOT_DIRECT_PARENT');
  const refusal = await refuseCaller(unit, actor, [...family.tasks.values()]);
  if (refusal) return refusal;
  if (actor.kind === 'agent' && below.length > 0) return refuse('CONFLICT', { field: 'cascade', rule: 'true where tasks are below it' });
  const detached = await markDeleted(unit, task, { by: actorName(actor), below: cascade ? null : below });
  return result(id, { detached });
}

/** Without cascade the whole subtree is locked: its depths change. */
async function lockGround(
  unit: Unit,
  { id }: TaskRow,
  cascade: boolean,
): Promise<{ readonly family: Family; readonly below: readonly string[] }> {
  if (cascade) return { family: await lockFamilies(unit, [id]), below: [] };
  const subtree = await listSubtree(unit, id);
  const family = await lockFamilies(
    unit,
    subtree.map((task) => task.id),
  );
  const now = await listSubtree(unit, id);
  if (now.some((task) => !family.tasks.has(task.id))) throw new ChangedMeanwhile('the tasks below a task');
  return { family, below: subtree.filter((task) => task.id !== id).map((task) => task.id) };
}

async function deleteBelow(transactions: Transactions, ids: readonly string[], actor: Actor | null): Promise<number> {
  let deleted = 0;
  for (let level = ids; level.length > 0;) {
    const children = await transactions.run((unit) => listChildIds(unit, level));
    for (let at = 0; at < children.length; at += BATCH)
      deleted += await transactions.run((unit) => deleteBatch(unit, children.slice(at, at + BATCH), actor));
    level = children;
  }
  return deleted;
}

/** Deletes tasks of one workspace with all that will be found below them. */
async function deleteBatch(unit: Unit, ids: readonly string[], actor: Actor | null): Promise<number> {
  const first = ids[0] && (await findTask(unit, ids[0]));
  if (!first) return 0;
  await lockStructure(unit, first.workspace_id);
  const { tasks } = await lockFamilies(unit, ids);
  const found = ids.flatMap((id) => tasks.get(id) ?? []);
  for (const task of found) await markDeleted(unit, task, { by: actor ? actorName(actor) : 'system', below: null });
  return found.length;
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
