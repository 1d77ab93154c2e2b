/**
 * Moving a task to a step of a workflow, by somebody's word.
 *
 * M1  While the task's primary session has an open turn the move is stored with that turn and takes place at its end, under the same
 *     locks: it is stored before the end or made after it, never lost between (K5).
 * M2  The last word counts: it takes back what was stored with any turn of the task, also of a session that is the primary one no
 *     more. A move to the step that the task is in does only that.
 * M3  A turn that asked moves nothing any more (A17): a move asked for after that takes place at once, as in a task that waits.
 */
import { refuse, type Refusal, isRefusal, taskMachine } from '@echelon/domain';
import {
  findOpenTurn,
  findTask,
  insertAudit,
  lockSessionSets,
  lockTasks,
  type SessionRow,
  setDeferredStep,
  type TaskRow,
} from '@echelon/persistence';
import type { MoveTask } from '@echelon/contracts';
import { type Actor, actorName } from './actor.js';
import { refuseCaller, sessionOf } from './caller-authority.js';
import { enterStep } from './ending.js';
import type { Outcome } from './outcome.js';
import { inScope } from './scope.js';
import type { Unit } from './unit-of-work.js';
import { chooseStep } from './workflow-choice.js';

export interface MoveRequest {
  readonly actor: Actor;
  readonly taskId: string;
  readonly input: MoveTask;
}

/** Moves the task, or has its open turn do so when it ends. For the task's own sessions, its direct parent and operators. */
export async function moveToStep(unit: Unit, request: MoveRequest): Promise<Outcome<{ readonly deferred: boolean }>> {
  const { actor, input } = request;
  const ground = await lockGround(unit, request);
  if (isRefusal(ground)) return ground;
  const { task, primary } = ground;
  const step = await chooseStep(unit, {
    workspaceId: task.workspace_id,
    workflowId: input.workflow_id ?? null,
    stepId: input.workflow_step_id,
  });
  if (isRefusal(step)) return step;
  const turn = primary && (await findOpenTurn(unit, primary.id));
  const defers = turn !== null && turn.ended_by_question_id === null;
  const deferred = defers && step.id !== task.workflow_step_id;
  await setDeferredStep(unit, task.id, deferred ? { turnId: turn.id, stepId: step.id } : null);
  if (!defers) await enterStep(unit, task, step.id, 'request');
  const detail = { from: task.workflow_step_id, to: step.id, deferred };
  await insertAudit(unit, { workspaceId: task.workspace_id, actor: actorName(actor), action: 'task.move', subject: task.id, detail });
  return { deferred };
}

async function lockGround(
  unit: Unit,
  { actor, taskId }: MoveRequest,
): Promise<{ readonly task: TaskRow; readonly primary: SessionRow | null } | Refusal> {
  const seen = inScope(actor, await findTask(unit, taskId));
  if (isRefusal(seen)) return seen;
  const caller = actor.kind === 'agent' ? [actor.taskId] : [];
  const [locked, sessions] = await Promise.all([
    lockTasks(unit, [...new Set([taskId, ...caller])]),
    lockSessionSets(unit, { liveOf: [taskId], ids: sessionOf(actor) }),
  ]);
  const task = locked.find(({ id }) => id === taskId);
  if (!task) return refuse('NOT_FOUND');
  const refusal = refuseMover(actor, task) ?? (await refuseCaller(unit, actor, locked));
  if (refusal) return refusal;
  return { task, primary: sessions.find((session) => session.task_id === taskId && session.is_primary) ?? null };
}

function refuseMover(actor: Actor, task: TaskRow): Refusal | null {
  if (actor.kind === 'agent' && task.id !== actor.taskId && task.parent_id !== actor.taskId)
    return refuse('FORBIDDEN', { field: 'task_id', rule: 'your own task or a direct subtask of it' });
  if (task.archived_at) return refuse('TASK_ARCHIVED');
  return taskMachine.isTerminal(task.state) ? refuse('TASK_TERMINAL', { state: task.state }) : null;
}
