import type { ToolDefinition } from '@echelon/agent-loop';
import type { ParentQuestion, Task, UserQuestion } from '@echelon/contracts';
import { isRefusal, refuse, type Refusal } from '@echelon/domain';
import type { Actor } from '@echelon/orchestration';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { refused, succeed } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const GetTaskInput = z.strictObject({ task_id: exactId('Full task id; left out, your own task.').optional() });

/** `get_task_kandev`: one task; a direct parent also reads the question that the task waits with. */
export function getTaskTool(services: ToolServices): ToolDefinition<typeof GetTaskInput, ToolContext> {
  return {
    name: 'get_task_kandev',
    title: 'Get task',
    description:
      'Reads one task: title, prompt, state, autopilot, parent, pending_action (clarification: it waits for an answer; permission: for an approval), open_children, ' +
      'and its result once it has one. For a direct subtask of yours, pending_question holds the question that it waits with (id, session_id, questions, context, asked_at), or null; ' +
      'answer it with a message to that task and session whose reply_to_question_id is its id.',
    input: GetTaskInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    polling: true,
    execute: async ({ task_id: given }, execution) => {
      const actor = callerOf(execution);
      const id = given ?? (actor.kind === 'agent' ? actor.taskId : null);
      if (id === null) return refused(refuse('INVALID_INPUT', { field: 'task_id', rule: 'required' }));
      const task = await services.tasks.get(actor, id);
      if (isRefusal(task)) return refused(task);
      if (!isDirectParent(actor, task)) return succeed(task);
      const pending = await findQuestion(services, actor, task);
      return isRefusal(pending) ? refused(pending) : succeed({ ...task, ...pending });
    },
  };
}

function isDirectParent(actor: Actor, task: Task): boolean {
  return actor.kind === 'agent' && task.parent_id === actor.taskId;
}

interface PendingQuestion {
  readonly pending_question: Pick<ParentQuestion, 'id' | 'session_id' | 'questions' | 'context' | 'asked_at'> | null;
}

async function findQuestion(services: ToolServices, actor: Actor, task: Task): Promise<PendingQuestion | Refusal> {
  const page = await services.questions.list(actor, { kind: 'parent', task_id: task.id, status: 'pending', limit: 1 });
  if (isRefusal(page)) return page;
  const question = page.items.find((item) => isToParent(item) && item.parent_task_id === task.parent_id);
  if (!question) return { pending_question: null };
  const { id, session_id, questions, context, asked_at } = question;
  return { pending_question: { id, session_id, questions, context, asked_at } };
}

function isToParent(question: ParentQuestion | UserQuestion): question is ParentQuestion {
  return 'parent_task_id' in question;
}
