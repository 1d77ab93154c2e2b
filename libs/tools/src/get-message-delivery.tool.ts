import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const GetMessageDeliveryInput = z.strictObject({ delivery_id: exactId('delivery_id that message_task_kandev returned.') });

/** `get_message_delivery_kandev`: what became of a message (autopilot-contract.md §8). */
export function getMessageDeliveryTool(services: ToolServices): ToolDefinition<typeof GetMessageDeliveryInput, ToolContext> {
  return {
    name: 'get_message_delivery_kandev',
    title: 'Get message delivery',
    description:
      'Tells what became of a message that you sent: state queued (it waits), delivered (turn_id is the turn that it opened), cancelled (taken out) or failed (the receiver ' +
      'ended). Sender and receiver read its text; for everybody else the text is empty.',
    input: GetMessageDeliveryInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    polling: true,
    execute: async ({ delivery_id: id }, execution) => toResult(await services.messages.getDelivery(callerOf(execution), id)),
  };
}
