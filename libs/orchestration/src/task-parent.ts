/**
 * Giving a task another parent, or none: an operator's choice (autopilot-contract.md S4, D5, D6).
 *
 * B1  Changes of structure in a workspace are one after another; old parent, new parent and the whole subtree are locked (K20).
 * B2  What the old parent was asked is stale in the same transaction, and the child is told (S4, S9). The contract follows by
 *     itself: it is derived from the row at the next turn and at every call.
 */
import { isRefusal, type Limits, refuse, type Refusal, refuseReparent, taskMachine } from '@echelon/domain';
import {
  ChangedMeanwhile,
  countChildIn,
  findPendingQuestion,
  findTask,
  findWaitedFor,
  findWaiting,
  insertAudit,
  isBelowDeleted,
  listLineage,
  listLiveSessions,
  listSubtree,
  lockSessionSets,
  lockStructure,
  lockTasks,
  setParent,
  type TaskRow,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { endQuestion, leaveParent } from './ending.js';
import { operatorOnly } from './scope.js';
import { taskEventData } from './task-view.js';
import type { Unit } from './unit-of-work.js';

export interface ReparentRequest {
  readonly actor: Actor;
  readonly id: string;
  /** `null` detaches. */
  readonly parentId: string | null;
  readonly limits: Limits;
}

interface Ground {
  readonly task: TaskRow;
  readonly parent: TaskRow | null;
  readonly subtree: readonly { readonly id: string; readonly hops: number }[];
}

/** Moves the task with all that is below it; the same parent again changes nothing. A refusal leaves everything as it was. */
export async function reparentTask(unit: Unit, request: ReparentRequest): Promise<Refusal | { readonly changed: boolean }> {
  const refusal = operatorOnly(request.actor);
  if (isRefusal(refusal)) return refusal;
  const ground = await lockGround(unit, request);
  if (isRefusal(ground)) return ground;
  const { task, parent } = ground;
  if (task.parent_id === request.parentId) return { changed: false };
  const refused = refuseMove(ground, request.limits) ?? (await refuseDeletion(unit, ground)) ?? (await refuseInLine(unit, ground));
  if (refused) return refused;
  await move(unit, ground);
  await insertAudit(unit, {
    workspaceId: task.workspace_id,
    actor: actorName(request.actor),
    action: 'task.reparent',
    subject: task.id,
    detail: { from: task.parent_id, to: parent?.id ?? null },
  });
  return { changed: true };
}

async function lockGround(unit: Unit, { id, parentId }: ReparentRequest): Promise<Ground | Refusal> {
  const seen = await findTask(unit, id);
  if (!seen) return refuse('NOT_FOUND');
  await lockStructure(unit, seen.workspace_id);
  const [found, subtree] = await Promise.all([findTask(unit, id), listSubtree(unit, id)]);
  const around = [found?.parent_id, parentId].filter((each) => typeof each === 'string');
  const locked = await lockTasks(unit, [...around, ...subtree.map((each) => each.id)]);
  if (!isSameSet(subtree, await listSubtree(unit, id))) throw new ChangedMeanwhile('the tasks below a task');
  const task = locked.find((each) => each.id === id);
  const parent = locked.find((each) => each.id === parentId) ?? null;
  if (!task) return refuse('NOT_FOUND');
  if (!parent && parentId !== null) return refuse('NOT_FOUND', { field: 'parent_id' });
  await lockSessionSets(unit, { liveOf: [id, ...(task.parent_id ? [task.parent_id] : [])], askedBy: [id] });
  return { task, parent, subtree };
}

/** Of equal number they may still be others: one came while another went. */
function isSameSet(seen: Ground['subtree'], now: Ground['subtree']): boolean {
  const ids = new Set(seen.map(({ id }) => id));
  return now.length === ids.size && now.every(({ id }) => ids.has(id));
}

/** Below its new ancestors no task may wait for one of them, nor one of them for it (dependency.ts, E4). */
async function refuseInLine(unit: Unit, { parent, subtree }: Ground): Promise<Refusal | null> {
  if (!parent) return null;
  const [above, below] = [await listLineage(unit, parent.id), subtree.map(({ id }) => id)];
  const between = (await findWaitedFor(unit, below, above)) ?? (await findWaiting(unit, above, below));
  return between === null ? null : refuse('DEPENDENCY_IN_LINE', { field: 'parent_id', task_id: between });
}

/** A cascade of deletion has yet to reach the task or its new parent: neither leaves it, nor comes to it (task-delete.ts, D2). */
async function refuseDeletion(unit: Unit, { task, parent }: Ground): Promise<Refusal | null> {
  const leaving = await isBelowDeleted(unit, parent ? [task.id, parent.id] : [task.id]);
  return leaving ? refuse('TASK_STOPPING') : null;
}

function refuseMove({ task, parent, subtree }: Ground, limits: Limits): Refusal | null {
  return refuseReparent({
    task: { archived: task.archived_at !== null, stopping: task.stopping },
    height: Math.max(...subtree.map(({ hops }) => hops)),
    parent: parent && {
      state: parent.state,
      archived: parent.archived_at !== null,
      stopping: parent.stopping,
      depth: parent.depth,
      children: parent.open_children,
      sameWorkspace: parent.workspace_id === task.workspace_id,
      isTaskOrBelow: subtree.some(({ id }) => id === parent.id),
    },
    limits: { maxDepth: limits.depth, maxChildren: limits.children_per_task },
  });
}

async function move(unit: Unit, { task, parent, subtree }: Ground): Promise<void> {
  const parentId = parent?.id ?? null;
  await setParent(unit, task, { parentId, depth: parent ? parent.depth + 1 : 0, subtree: subtree.map(({ id }) => id) });
  for (const session of await listLiveSessions(unit, task.id)) {
    const question = await findPendingQuestion(unit, session.id);
    if (question) await endQuestion(unit, question, 'stale', 'parent_changed');
  }
  const counted = !taskMachine.isTerminal(task.state);
  if (counted && task.parent_id) await leaveParent(unit, task.parent_id);
  if (counted && parent) await countChildIn(unit, parent.id);
  for (const id of [task.id, ...(task.parent_id ? [task.parent_id] : [])]) unit.passTurn(id);
  const data = taskEventData({ ...task, parent_id: parentId, depth: parent ? parent.depth + 1 : 0 });
  await unit.tell({ workspaceId: task.workspace_id, type: 'task.updated', taskId: task.id, sessionId: null, data });
}
