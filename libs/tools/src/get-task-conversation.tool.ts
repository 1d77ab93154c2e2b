import type { ToolDefinition } from '@echelon/agent-loop';
import { type Message, type Page, WholeNumber } from '@echelon/contracts';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const GetTaskConversationInput = z.strictObject({
  task_id: exactId('Task whose conversation to read.'),
  session_id: exactId('One session of the task; left out, its primary one.').optional(),
  limit: z.int().min(1).max(200).default(20).describe('Messages at most, 1 to 200.'),
  before: WholeNumber.optional().describe('Only messages before this sequence number.'),
  after: WholeNumber.optional().describe('Only messages after this sequence number; not together with before.'),
  message_types: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(20)
    .optional()
    .describe('Only messages of these types, such as prompt or response.'),
});

/** `get_task_conversation_kandev`: what was said, without what only providers and surfaces need. */
export function getTaskConversationTool(services: ToolServices): ToolDefinition<typeof GetTaskConversationInput, ToolContext> {
  return {
    name: 'get_task_conversation_kandev',
    title: 'Read conversation',
    description:
      'Reads the conversation of a task in its order: prompts, responses, tool calls and their results, each message with its sequence number. Without before or after you get ' +
      'the latest messages. Use it to see what an agent did, not to wait for it. Returns { task_id, messages, next_cursor }; pass next_cursor on as after if you gave after, ' +
      'else as before; null means that there is nothing more.',
    input: GetTaskConversationInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    polling: true,
    execute: async ({ task_id: taskId, session_id: sessionId, message_types: types, ...part }, execution) =>
      toResult(await services.sessions.listMessages(callerOf(execution), { taskId, sessionId, types, ...part }), (page) =>
        toConversation(taskId, page),
      ),
  };
}

function toConversation(taskId: string, { items, next_cursor }: Page<Message>): object {
  return {
    task_id: taskId,
    session_id: items[0]?.session_id ?? null,
    messages: items.map(toLine),
    next_cursor: next_cursor && Number(next_cursor),
  };
}

function toLine({ sequence, type, role, turn_id, parts, created_at }: Message): object {
  const said = parts.filter((part) => part['type'] !== 'thought').map(({ provider_data: _data, ...part }) => part);
  return { sequence, type, role, turn_id, parts: said, created_at };
}
