import type { ToolDefinition } from '@echelon/agent-loop';
import type { CreatedTask, CreateTask } from '@echelon/contracts';
import { Id, WorkspaceMode } from '@echelon/contracts';
import { isRefusal, LIMITS, refuse, type Refusal } from '@echelon/domain';
import type { Actor } from '@echelon/orchestration';
import { z } from 'zod';
import { keyOfCall, keyOfCallId } from './call-key.js';
import { findTurnId } from './current-turn.js';
import { exactId, SELF, selfOrId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { refused, toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const NAME = 'create_task_kandev';

const CreateTaskInput = z.strictObject({
  title: z.string().trim().min(1).optional().describe('At most 60 characters; made from the prompt when left out.'),
  prompt: z
    .string()
    .trim()
    .min(1)
    .describe('All that the agent of the new task will know: the goal, what is already decided, limits, and what its result should be.'),
  parent_id: selfOrId(
    '"self", or the full id of a task below your own. Left out: "self" for an agent, no parent for an operator.',
  ).optional(),
  autopilot: z
    .boolean()
    .default(false)
    .describe(
      'true: its agent decides alone and asks the agent of its parent task, never a person. Fixed at creation and never inherited: set it for each task that needs it.',
    ),
  profile_id: exactId('Agent profile to run it with; left out, the profile of the parent.').optional(),
  workspace_mode: WorkspaceMode.optional().describe(
    'inherit_parent (default of a subtask): it works in the files of its parent. new_workspace: it gets an empty folder.',
  ),
  blocked_by: z
    .array(exactId('Full task id.'))
    .max(LIMITS.blockers_per_task.default)
    .default([])
    .describe(
      'Tasks that must complete before this one starts. One that fails or is cancelled does not release it: blocked_reason then names it.',
    ),
  start_agent: z.boolean().default(true).describe('false: only record the task; its agent starts with the first message to it.'),
  workflow_id: z
    .string()
    .refine((text) => text === 'default' || Id.safeParse(text).success, 'must be "default" or a full id')
    .describe('Workflow to put it into, or "default" for the workspace’s own choice. Left out: no workflow.')
    .optional(),
  workflow_step_id: exactId('Step of the workflow that it starts in; left out, the first.').optional(),
  workspace_id: exactId('Workspace of a task without a parent; needed where there are several.').optional(),
  idempotency_key: z
    .string()
    .trim()
    .min(1)
    .max(LIMITS.key_characters.default)
    .optional()
    .describe('Your own key of this creation: a repetition under it returns the first task. Usually not needed.'),
});
type CreateTaskInput = z.output<typeof CreateTaskInput>;

/** `create_task_kandev`: the same validation and code as REST (F2). */
export function createTaskTool(services: ToolServices): ToolDefinition<typeof CreateTaskInput, ToolContext> {
  return {
    name: NAME,
    title: 'Create task',
    description:
      'Creates a task and starts an agent on it. Use it to delegate a self-contained piece of work: the agent sees nothing of your conversation, only the prompt. ' +
      'Returns at once with the task: its id, state, autopilot and primary_session_id. The agent works by itself; what it asks, a bad end, and the end of ' +
      'all subtasks reach you as messages, so do not wait and do not poll. deduplicated is true when this very call had already created the task.',
    input: CreateTaskInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async (input, execution) => {
      const actor = callerOf(execution);
      const fields = toFields(actor, input);
      if (isRefusal(fields)) return refused(fields);
      const key = await findKey(services, actor, input);
      if (isRefusal(key)) return refused(key);
      return toResult(await services.tasks.create(actor, fields, key.value), withoutPrompt);
    },
  };
}

function toFields(actor: Actor, { idempotency_key: _key, parent_id: parent, ...fields }: CreateTaskInput): CreateTask | Refusal {
  if (actor.kind === 'agent') return { ...fields, parent_id: parent === undefined || parent === SELF ? actor.taskId : parent };
  if (parent === SELF) return refuse('INVALID_INPUT', { field: 'parent_id', rule: 'self is for agents: name the task by its id' });
  return { ...fields, parent_id: parent };
}

/** K16: the agent's own key, or the call's; an operator's call without either is a new creation each time. */
async function findKey(services: ToolServices, actor: Actor, input: CreateTaskInput): Promise<{ readonly value: string | null } | Refusal> {
  if (input.idempotency_key !== undefined) return { value: `key:${input.idempotency_key}` };
  if (actor.kind === 'operator') return { value: null };
  const known = keyOfCallId(actor);
  if (known !== null) return { value: known };
  const turn = await findTurnId(services, actor);
  return isRefusal(turn) ? turn : { value: keyOfCall({ actor, turnId: turn.id, tool: NAME, input }) };
}

/** The caller has just written the prompt. */
function withoutPrompt({ prompt: _prompt, ...task }: CreatedTask): object {
  return task;
}
