/** The turn that an agent's call belongs to: the loop's own, or the session's open one. */
import { isRefusal, type Refusal } from '@echelon/domain';
import type { AgentActor } from '@echelon/orchestration';
import type { ToolServices } from './tool-services.js';

/** Id of the turn; `null` while the session has none open. */
export async function findTurnId(
  { sessions }: Pick<ToolServices, 'sessions'>,
  actor: AgentActor,
): Promise<{ readonly id: string | null } | Refusal> {
  if (actor.turnId !== null) return { id: actor.turnId };
  const session = await sessions.get(actor, actor.sessionId);
  return isRefusal(session) ? session : { id: session.current_turn_id };
}
