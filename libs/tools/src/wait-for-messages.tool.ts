import type { ToolDefinition } from '@echelon/agent-loop';
import { isRefusal } from '@echelon/domain';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { agentOf, type ToolContext } from './tool-context.js';
import { refused, succeed } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

/** Below the limit of every call, so that an answer comes in time. */
const LONGEST_WAIT_SECONDS = 20;

const WaitForMessagesInput = z.strictObject({
  finished_turn_id: exactId(
    'turn_id of the last message that you got, once you have dealt with it. Without it that message comes again.',
  ).optional(),
  timeout_seconds: z.int().min(0).max(LONGEST_WAIT_SECONDS).default(LONGEST_WAIT_SECONDS).describe('How long to wait for one.'),
});

/** `wait_for_messages_kandev`: the next message of an attached session, each opening one turn (autopilot-contract.md §1, §8). */
export function waitForMessagesTool(services: ToolServices): ToolDefinition<typeof WaitForMessagesInput, ToolContext> {
  return {
    name: 'wait_for_messages_kandev',
    title: 'Wait for messages',
    description:
      'Gives you the next message to your session: an instruction, an answer, a question of a subtask. Returns at once when one waits, else after timeout_seconds with ' +
      'message: null; then call it again while you have nothing to do. Each message comes with a turn_id: do what it asks, then call this tool with finished_turn_id set to it, ' +
      'which ends that turn and gives the next message. delivered_before: true means that it was handed out before: do not do its work twice.',
    input: WaitForMessagesInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    polling: true,
    execute: async ({ finished_turn_id: finishedTurnId, timeout_seconds: seconds }, execution) => {
      const actor = agentOf(execution);
      if (isRefusal(actor)) return refused(actor);
      const wait = { finishedTurnId: finishedTurnId ?? null, timeoutMs: seconds * 1000, signal: execution.signal };
      const delivered = await services.attached.waitForMessage(actor, wait);
      return isRefusal(delivered) ? refused(delivered) : succeed(delivered);
    },
  };
}
