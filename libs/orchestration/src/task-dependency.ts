/**
 * Dependencies of a task that exists: added and removed by its own sessions, its direct parent, or an operator.
 *
 * D1  Changes of structure in a workspace are one after another, so the chains that a cycle is looked for in stay as read (K20).
 * D2  Task, blocker and the task's live sessions are locked: a blocker that completes meanwhile either is seen here or sees the
 *     change. State and work follow in the same transaction; a turn that runs goes on, the next one waits.
 */
import type { TaskDependencies } from '@echelon/contracts';
import { blockedReasonOf, isBlocked, isRefusal, refuse, type Refusal, refuseDependency } from '@echelon/domain';
import {
  deleteDependency,
  findTask,
  findWaitedFor,
  insertAudit,
  insertDependencies,
  listAboveWaiting,
  listBlockers,
  listLineage,
  listUpstream,
  lockSessionSets,
  lockStructure,
  lockTasks,
  type TaskRow,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { refuseCaller, sessionOf } from './caller-authority.js';
import { followDependencies } from './ending.js';
import type { Outcome } from './outcome.js';
import { inScope } from './scope.js';
import { taskEventData, toBlocker } from './task-view.js';
import type { Unit } from './unit-of-work.js';

export interface DependencyRequest {
  readonly actor: Actor;
  readonly taskId: string;
  readonly blockerId: string;
}

interface Ground {
  readonly task: TaskRow;
  /** `null` where there is no such task in the workspace. */
  readonly blocker: TaskRow | null;
  readonly blockers: readonly TaskRow[];
}

/** Makes a task wait for another of its workspace; the same again changes nothing. A cycle is refused with its path. */
export async function addDependency(unit: Unit, request: DependencyRequest): Promise<Outcome<TaskDependencies>> {
  const ground = await lockGround(unit, request);
  if (isRefusal(ground)) return ground;
  const { task, blocker, blockers } = ground;
  if (!blocker) return refuse('NOT_FOUND', { field: 'depends_on_task_id' });
  if (blockers.some(({ id }) => id === blocker.id)) return show(unit, task);
  const upstream = await listUpstream(unit, blocker.id);
  const facts = { task: toBlocker(task), blocker: toBlocker(blocker), blockers: blockers.length, upstream };
  const refusal = refuseDependency(facts) ?? (await refuseInLine(unit, task, blocker));
  if (refusal) return refusal;
  await insertDependencies(unit, task.id, [blocker.id]);
  return follow(unit, request, task, 'task.add_dependency');
}

/** A task waits neither for one above it nor for one below it (E4). */
async function refuseInLine(unit: Unit, task: TaskRow, blocker: TaskRow): Promise<Refusal | null> {
  const field = 'depends_on_task_id';
  if ((await listLineage(unit, blocker.id)).includes(task.id)) return refuse('DEPENDENCY_IN_LINE', { field, task_id: blocker.id });
  const above = await findWaitedFor(unit, [blocker.id], await listAboveWaiting(unit, task.id));
  return above === null ? null : refuse('DEPENDENCY_IN_LINE', { field, task_id: above });
}

/** Makes a task wait for another no longer; where it did not wait, nothing changes. Its last blocker gone, its held work starts. */
export async function removeDependency(unit: Unit, request: DependencyRequest): Promise<Outcome<TaskDependencies>> {
  const ground = await lockGround(unit, request);
  if (isRefusal(ground)) return ground;
  const { task } = ground;
  if (!(await deleteDependency(unit, task.id, request.blockerId))) return show(unit, task);
  return follow(unit, request, task, 'task.remove_dependency');
}

async function lockGround(unit: Unit, { actor, taskId, blockerId }: DependencyRequest): Promise<Ground | Refusal> {
  const seen = inScope(actor, await findTask(unit, taskId));
  if (isRefusal(seen)) return seen;
  await lockStructure(unit, seen.workspace_id);
  const caller = actor.kind === 'agent' ? [actor.taskId] : [];
  const [locked] = await Promise.all([
    lockTasks(unit, [...new Set([taskId, blockerId, ...caller])]),
    lockSessionSets(unit, { liveOf: [taskId], ids: sessionOf(actor) }),
  ]);
  const task = locked.find(({ id }) => id === taskId);
  if (!task) return refuse('NOT_FOUND');
  const refusal = refuseStranger(actor, task) ?? (await refuseCaller(unit, actor, locked));
  if (refusal) return refusal;
  const blocker = locked.find(({ id, workspace_id }) => id === blockerId && workspace_id === task.workspace_id) ?? null;
  return { task, blocker, blockers: await listBlockers(unit, taskId) };
}

function refuseStranger(actor: Actor, task: TaskRow): Refusal | null {
  if (actor.kind === 'operator' || task.id === actor.taskId || task.parent_id === actor.taskId) return null;
  return refuse('FORBIDDEN', { field: 'task_id', rule: 'your own task or a direct subtask of it' });
}

async function follow(
  unit: Unit,
  { actor, blockerId }: DependencyRequest,
  task: TaskRow,
  action: 'task.add_dependency' | 'task.remove_dependency',
): Promise<TaskDependencies> {
  const moved = await followDependencies(unit, task);
  const about = { workspaceId: task.workspace_id, taskId: task.id, sessionId: null };
  if (moved.state === task.state) await unit.tell({ ...about, type: 'task.updated', data: taskEventData(moved) });
  const detail = { depends_on: blockerId };
  await insertAudit(unit, { workspaceId: task.workspace_id, actor: actorName(actor), action, subject: task.id, detail });
  return show(unit, moved);
}

async function show(unit: Unit, task: TaskRow): Promise<TaskDependencies> {
  const blockers = (await listBlockers(unit, task.id)).map(toBlocker);
  return {
    task_id: task.id,
    blocked: isBlocked(task.state, blockers),
    blocked_reason: blockedReasonOf(task.state, blockers),
    depends_on: blockers.map(({ id }) => id),
  };
}
