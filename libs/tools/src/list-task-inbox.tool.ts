import type { ToolDefinition } from '@echelon/agent-loop';
import { isRefusal } from '@echelon/domain';
import { z } from 'zod';
import { pageArguments } from './tool-arguments.js';
import { agentOf, type ToolContext } from './tool-context.js';
import { refused, toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ListTaskInboxInput = z.strictObject(pageArguments(100));

/** `list_task_inbox_kandev`: what waits for an attached session, without taking it. */
export function listTaskInboxTool(services: ToolServices): ToolDefinition<typeof ListTaskInboxInput, ToolContext> {
  return {
    name: 'list_task_inbox_kandev',
    title: 'List task inbox',
    description:
      'Lists the messages that wait for your session, in the order in which wait_for_messages_kandev gives them; nothing is taken. Returns { items, next_cursor, delivered }, each item ' +
      'with id, kind, text, sender_task_id and question_id. delivered is the message that you were handed last, with its turn_id, as long as that turn is open: ' +
      'read it here if the answer of wait_for_messages_kandev never reached you.',
    input: ListTaskInboxInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    polling: true,
    execute: async (input, execution) => {
      const actor = agentOf(execution);
      return isRefusal(actor) ? refused(actor) : toResult(await services.attached.readInbox(actor, input));
    },
  };
}
