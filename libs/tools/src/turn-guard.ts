/**
 * The end of a turn that asked its parent, where all tools pass once (A16, K6b).
 *
 * G1  Reads stay possible, and so does the ask: its retry must find its question (A2, A3).
 * G2  The loop ends such a turn by itself, so that only calls from outside are looked up. The services check again under their locks.
 */
import type { ToolDefinition, ToolExecution } from '@echelon/agent-loop';
import type { z } from 'zod';
import type { ToolContext } from './tool-context.js';
import { refused } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

type GuardedTool = ToolDefinition<z.ZodType, ToolContext>;

/** The tool, refused with TURN_ENDED_BY_QUESTION once its turn asked; the runtime is told to end the turn. */
export function guardTurn<Tool extends GuardedTool>(tool: Tool, { turns }: Pick<ToolServices, 'turns'>): Tool {
  if (tool.effect === 'read' || tool.endsTurn === true) return tool;
  return {
    ...tool,
    execute: async (input: unknown, execution: ToolExecution<ToolContext>) => {
      const { actor, surface } = execution.context;
      if (actor.kind === 'operator' || surface === 'loop') return tool.execute(input, execution);
      const refusal = await turns.refuseAfterQuestion(actor);
      return refusal ? { ...refused(refusal), endsTurn: refusal.code === 'TURN_ENDED_BY_QUESTION' } : tool.execute(input, execution);
    },
  };
}
