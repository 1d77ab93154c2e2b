import type { ToolDefinition } from '@echelon/agent-loop';
import { isRefusal } from '@echelon/domain';
import { z } from 'zod';
import { agentOf, type ToolContext } from './tool-context.js';
import { refused, toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const StepCompleteInput = z.strictObject({
  summary: z.string().trim().min(1).describe('The result: what was done, what it is based on, and every material assumption.'),
  handoff: z.string().trim().min(1).optional().describe('What whoever goes on from here must know.'),
  blockers: z.array(z.string().trim().min(1)).min(1).max(20).optional().describe('What is not done, and why, one line each.'),
});

/** `step_complete_kandev`: the completion signal of a turn; it takes effect when the turn ends. */
export function stepCompleteTool(services: ToolServices): ToolDefinition<typeof StepCompleteInput, ToolContext> {
  return {
    name: 'step_complete_kandev',
    title: 'Complete step',
    description:
      'Says that the work of your task is done, with its result; whoever delegated the task reads the summary. In a task that goes through the steps of a workflow it says so of the step ' +
      'that the task is in: on the last step it completes the task. Call it once, when nothing is left to do, and end your turn: it takes effect at the end of the turn. Returns accepted: true, or accepted: false with reason already_signaled when this turn had signaled before.',
    input: StepCompleteInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async (input, execution) => {
      const actor = agentOf(execution);
      return isRefusal(actor) ? refused(actor) : toResult(await services.turns.signalCompletion(actor, input));
    },
  };
}
