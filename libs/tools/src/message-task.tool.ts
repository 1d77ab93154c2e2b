import type { ToolDefinition } from '@echelon/agent-loop';
import { LIMITS } from '@echelon/domain';
import { z } from 'zod';
import { keyOfCallId } from './call-key.js';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const MessageTaskInput = z.strictObject({
  task_id: exactId('Task whose agent gets the message.'),
  prompt: z.string().trim().min(1).describe('The message, or your answer. It must be complete by itself.'),
  session_id: exactId('One session of the task; left out, its live primary one. In an answer, copy it from the question.').optional(),
  delivery_mode: z
    .enum(['queued', 'interrupt'])
    .default('queued')
    .describe('queued: its next turn. interrupt: the running turn is cancelled at a safe point; only the direct parent may.'),
  idempotency_key: z
    .string()
    .trim()
    .min(1)
    .max(LIMITS.key_characters.default)
    .optional()
    .describe('Your own key of this message: a repetition under it is not delivered again.'),
  reply_to_question_id: z
    .string()
    .max(64)
    .optional()
    .describe('Id of the question that this prompt answers; leave it out for an ordinary message.'),
});

/** `message_task_kandev`: an ordinary message, or with `reply_to_question_id` the answer to a child (autopilot-contract.md §5, §8). */
export function messageTaskTool(services: ToolServices): ToolDefinition<typeof MessageTaskInput, ToolContext> {
  return {
    name: 'message_task_kandev',
    title: 'Message task',
    description:
      'Sends a message to the agent of another task, or answers a question that a direct subtask asked you (reply_to_question_id). Returns at once with a delivery_id and a ' +
      'status: started, sent (a turn begins with it), queued (behind the running turn), or already_answered (the first answer counts; nothing was delivered). It does not wait ' +
      'for a reply. A message without reply_to_question_id to a subtask that waits for your answer withdraws its question: to answer, always name the question.',
    input: MessageTaskInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async ({ task_id: taskId, ...message }, execution) => {
      const actor = callerOf(execution);
      const key = message.idempotency_key === undefined ? keyOfCallId(actor) : `key:${message.idempotency_key}`;
      return toResult(await services.messages.send(actor, taskId, { ...message, idempotency_key: key ?? undefined }));
    },
  };
}
