import type { ToolDefinition } from '@echelon/agent-loop';
import { isRefusal, type Refusal } from '@echelon/domain';
import type { Actor } from '@echelon/orchestration';
import { z } from 'zod';
import { keyOfCall, keyOfCallId } from './call-key.js';
import { findTurnId } from './current-turn.js';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { refused, toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const NAME = 'spawn_session_kandev';

const SpawnSessionInput = z.strictObject({
  task_id: exactId('Direct subtask that gets another session.'),
  prompt: z.string().trim().min(1).optional().describe('What the new agent is to do; left out, the prompt of the task.'),
  profile_id: exactId('Agent profile to run it with; left out, the profile of the task.').optional(),
  name: z.string().trim().min(1).max(60).optional().describe('A short name to tell it from the other sessions.'),
  make_primary: z.boolean().default(false).describe('true: messages to the task go to this session from now on.'),
});
type SpawnSessionInput = z.infer<typeof SpawnSessionInput>;

/** `spawn_session_kandev`: for the direct parent and for operators (M13). */
export function spawnSessionTool(services: ToolServices): ToolDefinition<typeof SpawnSessionInput, ToolContext> {
  return {
    name: NAME,
    title: 'Start a session',
    description:
      'Starts another session of a task: a new agent with an empty conversation, in the same files. Use it when a direct subtask was stopped or its session has ended and its ' +
      'work should go on: what its stopped session had not read comes after your prompt. It becomes the primary session when the present one has ended. Returns session_id, is_primary, state and delivery_id of its prompt.',
    input: SpawnSessionInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async (input, execution) => {
      const actor = callerOf(execution);
      const key = await findKey(services, actor, input);
      if (isRefusal(key)) return refused(key);
      const { task_id: taskId, ...fields } = input;
      const spawned = await services.tasks.spawnSession(actor, taskId, { ...fields, kind: 'task' }, key.value);
      return toResult(spawned, ({ id, is_primary, state, profile_id, delivery_id, deduplicated }) => ({
        task_id: taskId,
        session_id: id,
        is_primary,
        state,
        profile_id,
        delivery_id,
        deduplicated,
      }));
    },
  };
}

/** K16: an agent's call is its own key; an operator's is new each time. */
async function findKey(
  services: ToolServices,
  actor: Actor,
  input: SpawnSessionInput,
): Promise<{ readonly value: string | null } | Refusal> {
  if (actor.kind === 'operator') return { value: null };
  const known = keyOfCallId(actor);
  if (known !== null) return { value: known };
  const turn = await findTurnId(services, actor);
  return isRefusal(turn) ? turn : { value: keyOfCall({ actor, turnId: turn.id, tool: NAME, input }) };
}
