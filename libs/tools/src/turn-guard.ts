/**
 * The end of a turn that asked its parent, where all tools pass once (A16, K6b).
 *
 * G1  What the turn's own row says counts, never the question's status now: a fast answer does not reopen a turn that asked.
 * G2  Reads stay possible, and so does the ask: its retry must find its question (A2, A3).
 * G3  What cannot be read is refused (A18).
 * G4  The loop ends such a turn by itself, so that only calls from outside are looked up. The services check again under their locks.
 */
import type { ToolDefinition, ToolExecution } from '@echelon/agent-loop';
import { isRefusal, refuse, type Refusal } from '@echelon/domain';
import type { AgentActor } from '@echelon/orchestration';
import type { z } from 'zod';
import type { TurnServices } from './current-turn.js';
import type { ToolContext } from './tool-context.js';
import { refused } from './tool-result.js';

type GuardedTool = ToolDefinition<z.ZodType, ToolContext>;

/** The tool, refused with TURN_ENDED_BY_QUESTION once its turn asked; the runtime is told to end the turn. */
export function guardTurn<Tool extends GuardedTool>(tool: Tool, services: TurnServices): Tool {
  if (tool.effect === 'read' || tool.endsTurn === true) return tool;
  return {
    ...tool,
    execute: async (input: unknown, execution: ToolExecution<ToolContext>) => {
      const { actor, surface } = execution.context;
      if (actor.kind === 'operator' || surface === 'loop') return tool.execute(input, execution);
      const refusal = await refuseAfterQuestion(services, actor);
      return refusal ? { ...refused(refusal), endsTurn: refusal.code === 'TURN_ENDED_BY_QUESTION' } : tool.execute(input, execution);
    },
  };
}

async function refuseAfterQuestion({ sessions, turns }: TurnServices, actor: AgentActor): Promise<Refusal | null> {
  const session = await sessions.get(actor, actor.sessionId);
  if (isRefusal(session)) return session;
  const turnId = actor.turnId ?? session.current_turn_id;
  if (turnId === null) return session.state === 'waiting_for_input' ? refuse('TURN_ENDED_BY_QUESTION') : null;
  const turn = await turns.get(actor, turnId);
  if (isRefusal(turn)) return turn;
  return turn.ended_by_question_id === null ? null : refuse('TURN_ENDED_BY_QUESTION', { question_id: turn.ended_by_question_id });
}
