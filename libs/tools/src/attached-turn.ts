/**
 * The turn of an agent that somebody else runs: its calls over MCP open it, keep it, and end it (autopilot-contract.md §1). Where we
 * run the session's turns ourselves nothing of this happens.
 */
import type { ToolDefinition, ToolExecution } from '@echelon/agent-loop';
import { isRefusal } from '@echelon/domain';
import type { z } from 'zod';
import type { ToolContext } from './tool-context.js';
import { refused } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

/** A question to the operator and the completion signal end such a turn. */
const ENDING: ReadonlySet<string> = new Set(['ask_user_question_kandev', 'step_complete_kandev']);
/** Settles turns by itself. */
const WAITING = 'wait_for_messages_kandev';

export function attachTurn<Tool extends ToolDefinition<z.ZodType, ToolContext>>(tool: Tool, services: ToolServices): Tool {
  if (tool.name === WAITING) return tool;
  return {
    ...tool,
    execute: async (input: unknown, execution: ToolExecution<ToolContext>) => {
      const { actor, surface } = execution.context;
      if (actor.kind === 'operator' || surface === 'loop') return tool.execute(input, execution);
      if (tool.effect === 'read') {
        await services.attached.touch(actor);
        return tool.execute(input, execution);
      }
      const entered = await services.attached.enter(actor);
      if (isRefusal(entered)) return refused(entered);
      const result = await tool.execute(input, execution);
      if (ENDING.has(tool.name) && !result.isError) await services.attached.leave(actor, entered);
      return result;
    },
  };
}
