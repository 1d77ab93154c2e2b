/**
 * Stopping a task: its sessions are cancelled and it rests in review; what is below goes on, unless a cascade takes it too.
 *
 * S1  A cascade goes top-down, in small transactions. A task is marked before its children are listed and creation checks its
 *     parent's mark under the same lock, so no child escapes (K20).
 * S2  The marks are taken away at the end, from the bottom. A cascade whose process died is finished by the sweep.
 */
import type { StoppedTask } from '@echelon/contracts';
import { isRefusal, refuse, type Refusal, taskMachine } from '@echelon/domain';
import {
  type Database,
  insertAudit,
  listChildIds,
  listLeftCascades,
  listOpenDescendants,
  lockTasks,
  setStopping,
  type TaskRow,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { refuseCaller } from './caller-authority.js';
import { endSessionsOf, type Family, lockFamilies, moveTask } from './ending.js';
import type { Outcome } from './outcome.js';
import { inScope } from './scope.js';
import type { Transactions, Unit } from './unit-of-work.js';

const BATCH = 20;
const LEFT_AFTER_SECONDS = 30;

export interface StopRequest {
  readonly actor: Actor;
  readonly id: string;
  readonly cascade: boolean;
}

/** Stops a task for an operator or its direct parent; a second time changes nothing and says `not_running`. */
export async function stopTask(transactions: Transactions, request: StopRequest): Promise<Outcome<StoppedTask>> {
  const top = await transactions.run((unit) => stopTop(unit, request));
  if (isRefusal(top)) return top;
  const below = request.cascade ? await takeDownBelow(transactions, request.id) : false;
  return { task_id: request.id, status: top.stopped || below ? 'stopped' : 'not_running', descendants: [...top.descendants] };
}

/** Finishes cascades that a crash left half-way; returns how many. The sweep calls it. */
export async function resumeCascades(database: Database, transactions: Transactions): Promise<number> {
  const left = await listLeftCascades(database, LEFT_AFTER_SECONDS, BATCH);
  for (const id of left) await takeDownBelow(transactions, id);
  return left.length;
}

interface StoppedTop {
  readonly stopped: boolean;
  readonly descendants: readonly string[];
}

async function stopTop(unit: Unit, { actor, id, cascade }: StopRequest): Promise<StoppedTop | Refusal> {
  const family = await lockFamilies(unit, [id]);
  const task = inScope(actor, family.tasks.get(id));
  if (isRefusal(task)) return task;
  if (actor.kind === 'agent' && task.parent_id !== actor.taskId) return refuse('NOT_DIRECT_PARENT');
  const refusal = await refuseCaller(unit, actor, []);
  if (refusal) return refusal;
  if (cascade) await setStopping(unit, [id], true);
  const stopped = await cancelSessions(unit, task, family);
  const detail = { cascade, stopped };
  await insertAudit(unit, { workspaceId: task.workspace_id, actor: actorName(actor), action: 'task.stop', subject: id, detail });
  return { stopped, descendants: await listOpenDescendants(unit, id) };
}

/** Takes down every level below a marked task, then takes the marks away; returns whether anything was running. */
async function takeDownBelow(transactions: Transactions, topId: string): Promise<boolean> {
  const marked = [topId];
  let stopped = false;
  for (let level = [topId]; level.length > 0;) {
    const children = await transactions.run((unit) => listChildIds(unit, level));
    for (const batch of inBatches(children)) stopped = (await transactions.run((unit) => takeDown(unit, batch))) || stopped;
    marked.push(...children);
    level = [...children];
  }
  for (const batch of inBatches(marked.toReversed())) await transactions.run((unit) => unmark(unit, batch));
  return stopped;
}

async function takeDown(unit: Unit, ids: readonly string[]): Promise<boolean> {
  const family = await lockFamilies(unit, ids);
  await setStopping(unit, ids, true);
  let stopped = false;
  for (const id of ids) {
    const task = family.tasks.get(id);
    if (task) stopped = (await cancelSessions(unit, task, family)) || stopped;
  }
  return stopped;
}

async function unmark(unit: Unit, ids: readonly string[]): Promise<void> {
  await lockTasks(unit, ids);
  await setStopping(unit, ids, false);
}

/** Cancels the task's live sessions and rests it in review where its machine allows; `false` when none was live. */
async function cancelSessions(unit: Unit, task: TaskRow, family: Family): Promise<boolean> {
  if (!family.sessions.some((session) => session.task_id === task.id && session.ended_at === null)) return false;
  await endSessionsOf(unit, task.id, 'cancelled', 'session_ended');
  if (taskMachine.next(task.state, 'rest')) await moveTask(unit, task, 'rest');
  return true;
}

function inBatches(ids: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, index) => ids.slice(index * BATCH, (index + 1) * BATCH));
}
