/** Changing a task: all of a call is applied, or nothing (F5). */
import { UpdateTask } from '@echelon/contracts';
import { canonicalText, isRefusal, type Limits, refuse, type Refusal, type TaskEvent, taskMachine } from '@echelon/domain';
import { countActiveSessions, insertAudit, type TaskRow, updateOpeningPrompt, updateTaskTexts } from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { refuseCaller, refuseOutsider } from './caller-authority.js';
import { lockFamilies, moveTask } from './ending.js';
import type { Outcome } from './outcome.js';
import { followChange } from './session-queue.js';
import { checkTaskTexts } from './task-input.js';
import { taskEventData } from './task-view.js';
import type { Unit } from './unit-of-work.js';

const EVENTS: Readonly<Record<NonNullable<UpdateTask['state']>, TaskEvent>> = {
  review: 'rest',
  completed: 'complete',
  failed: 'fail',
  cancelled: 'cancel',
};

export interface ChangeRequest {
  readonly actor: Actor;
  readonly id: string;
  readonly changes: UpdateTask;
  readonly limits: Limits;
}

interface TaskChanges {
  readonly title: string | null;
  readonly prompt: string | null;
  readonly state: UpdateTask['state'] | null;
}

/** The canonical form of changes; refuses by name a field that is fixed at creation or that no task has (F5). */
function toTaskChanges(given: UpdateTask, limits: Limits): TaskChanges | Refusal {
  const surplus = Object.keys(given).find((field) => !(field in UpdateTask.shape));
  if (surplus !== undefined) return refuse(surplus === 'autopilot' ? 'FIELD_IMMUTABLE' : 'INVALID_INPUT', { field: surplus });
  const title = given.title === undefined ? null : canonicalText(given.title).trim();
  const prompt = given.prompt === undefined ? null : canonicalText(given.prompt);
  return checkTaskTexts({ title, prompt }, limits) ?? { title, prompt, state: given.state ?? null };
}

/**
 * Applies changes under the locks of the task's family. An agent changes the texts of its own task and of those below it; the
 * state is an operator's to set (autopilot-contract.md §1). The caller rolls back on a refusal.
 */
export async function changeTask(unit: Unit, { actor, id, changes: given, limits }: ChangeRequest): Promise<Outcome<TaskRow>> {
  const family = await lockFamilies(unit, actor.kind === 'agent' ? [id, actor.taskId] : [id]);
  const task = family.tasks.get(id);
  if (!task) return refuse('NOT_FOUND');
  const stranger =
    (await refuseCaller(unit, actor, [...family.tasks.values()])) ?? (await refuseOutsider(unit, actor, task, { own: true }));
  if (stranger) return stranger;
  const changes = toTaskChanges(given, limits);
  if (isRefusal(changes)) return changes;
  const refusal = refuseChange(actor, task, changes) ?? (await refuseBusy(unit, task, changes));
  if (refusal) return refusal;
  const written = await writeTexts(unit, task, changes);
  if (isRefusal(written)) return written;
  const detail = { title: changes.title !== null, prompt: changes.prompt !== null, state: changes.state ?? null };
  await insertAudit(unit, { workspaceId: task.workspace_id, actor: actorName(actor), action: 'task.update', subject: id, detail });
  return changes.state && changes.state !== written.state ? moveTask(unit, written, EVENTS[changes.state]) : written;
}

function refuseChange(actor: Actor, task: TaskRow, changes: TaskChanges): Refusal | null {
  if (task.archived_at) return refuse('TASK_ARCHIVED');
  if (!changes.state) return null;
  if (actor.kind === 'agent') return refuse('FORBIDDEN', { field: 'state' });
  if (changes.state === task.state) return null;
  return taskMachine.isTerminal(task.state) ? refuse('TASK_TERMINAL', { state: task.state }) : null;
}

/** A task with an open turn is not at rest, whoever holds that turn now. */
async function refuseBusy(unit: Unit, task: TaskRow, changes: TaskChanges): Promise<Refusal | null> {
  if (changes.state !== 'review' || task.state === 'review' || (await countActiveSessions(unit, task.id, null)) === 0) return null;
  return refuse('STATE_CONFLICT', { field: 'state', rule: 'stop the task first' });
}

async function writeTexts(unit: Unit, task: TaskRow, { title, prompt }: TaskChanges): Promise<Outcome<TaskRow>> {
  if (title === null && prompt === null) return task;
  const replaced = prompt === null ? [] : await updateOpeningPrompt(unit, task.id, prompt);
  if (!replaced) return refuse('STATE_CONFLICT', { field: 'prompt', rule: 'the task has started' });
  await followChange(unit, replaced);
  const written = await updateTaskTexts(unit, task.id, { title, prompt });
  await unit.tell({
    workspaceId: task.workspace_id,
    type: 'task.updated',
    taskId: task.id,
    sessionId: null,
    data: taskEventData(written),
  });
  return written;
}
