/** Entering a step of a workflow. The caller holds the locks of the task and of its live sessions, and the step's workflow for share. */
import { taskMachine } from '@echelon/domain';
import {
  cancelStepEntries,
  findSession,
  findStep,
  findTask,
  type SessionRow,
  type StepView,
  type TaskRow,
  type TurnRow,
  updateTaskStep,
} from '@echelon/persistence';
import { enqueue, followChange } from '../session-queue.js';
import { stepEnteredText } from '../step-text.js';
import { taskEventData } from '../task-view.js';
import type { Unit } from '../unit-of-work.js';
import { reachTask } from './receivers.js';

/** Why a task enters a step: somebody moved it, now or while its turn ran, or the rule of the step that it was in. */
export type MoveCause = 'request' | 'deferred_request' | 'rule';

/**
 * Puts the task into the step; the step that it is in already changes nothing. What waits of the instructions of the step that it
 * leaves is withdrawn, and the new step's instructions open its next turn.
 */
export async function enterStep(unit: Unit, task: TaskRow, stepId: string, cause: MoveCause): Promise<TaskRow> {
  if (task.workflow_step_id === stepId) return task;
  const step = await findStep(unit, stepId);
  if (!step) throw new Error(`step ${stepId} does not exist`);
  const moved = await updateTaskStep(unit, task.id, stepId);
  await withdrawInstructions(unit, task);
  await unit.tell({
    workspaceId: task.workspace_id,
    type: 'task.moved',
    taskId: task.id,
    sessionId: null,
    data: { ...taskEventData(moved), workflow_id: step.workflow_id, step: step.name, from_step_id: task.workflow_step_id, cause },
  });
  await instruct(unit, moved, step);
  return moved;
}

/** The move that somebody asked for while the turn ran: it takes place now, or is void because the turn asked (A17) or the task is over. */
export async function followDeferredMove(
  unit: Unit,
  session: SessionRow,
  turn: TurnRow,
  { stepId, over: ends }: { readonly stepId: string; readonly over: boolean },
): Promise<void> {
  const task = await findTask(unit, session.task_id);
  if (!task) throw new Error(`task ${session.task_id} vanished under its lock`);
  const over = ends || task.archived_at !== null || taskMachine.isTerminal(task.state);
  if (turn.ended_by_question_id === null && !over) {
    await enterStep(unit, task, stepId, 'deferred_request');
    return;
  }
  await unit.tell({
    workspaceId: task.workspace_id,
    type: 'task.move_voided',
    taskId: task.id,
    sessionId: session.id,
    data: { turn_id: turn.id, workflow_step_id: stepId, cause: over ? 'task_over' : 'turn_asked' },
  });
}

async function withdrawInstructions(unit: Unit, task: TaskRow): Promise<void> {
  await followChange(unit, await cancelStepEntries(unit, task.id));
}

/** A session that has not started yet is told by its first turn's prompt, which names the step. */
async function instruct(unit: Unit, task: TaskRow, step: StepView): Promise<void> {
  if (step.instructions === '') return;
  const reach = await reachTask(unit, task.id);
  const session = reach.kind === 'none' ? null : await findSession(unit, reach.sessionId);
  if (!session || session.state === 'created') return;
  await enqueue(unit, {
    sessionId: session.id,
    rank: 0,
    kind: 'notice',
    text: stepEnteredText(step),
    senderKind: 'system',
    workflowStepId: step.id,
  });
}
