/** Whether a call of an agent still belongs to a turn that may act. */
import { isRefusal, refuse, type Refusal } from '@echelon/domain';
import { findOpenTurn, findSession, findTurn, type Tx, type TurnRow } from '@echelon/persistence';
import type { Actor, AgentActor } from './actor.js';
import { inScope } from './scope.js';

/** Refuses a call from a turn that is over, that is being stopped (K18), or that ended with a question to the parent (A16, K6b). */
export function refuseTurn(turn: TurnRow | null, actor: { readonly turnId: string | null }): Refusal | null {
  if (actor.turnId !== null && turn?.id !== actor.turnId) return refuse('TURN_NOT_ACTIVE');
  if (turn?.stop_requested_at) return refuse('TURN_STOPPING');
  return turn && refuseAsked(turn);
}

/** The same for the turn that the actor's session has open now; an operator has none and is never refused. */
export async function refuseEndedTurn(tx: Tx, actor: Actor): Promise<Refusal | null> {
  return actor.kind === 'agent' ? refuseTurn(await findOpenTurn(tx, actor.sessionId), actor) : null;
}

/**
 * Refuses whatever an agent calls once its turn asked, or once it waits for the answer: read without locks, for calls that no service
 * would refuse (A16). What cannot be read is refused (A18).
 */
export async function refuseAfterQuestion(tx: Tx, actor: AgentActor): Promise<Refusal | null> {
  const session = inScope(actor, await findSession(tx, actor.sessionId));
  if (isRefusal(session)) return session;
  if (actor.turnId === null) {
    const open = await findOpenTurn(tx, session.id);
    return open ? refuseAsked(open) : session.state === 'waiting_for_input' ? refuse('TURN_ENDED_BY_QUESTION') : null;
  }
  const turn = inScope(actor, await findTurn(tx, actor.turnId));
  return isRefusal(turn) ? turn : refuseAsked(turn);
}

/** What the turn's own row says counts, never the question's status now: a fast answer does not reopen a turn that asked. */
function refuseAsked({ ended_by_question_id: asked }: TurnRow): Refusal | null {
  return asked === null ? null : refuse('TURN_ENDED_BY_QUESTION', { question_id: asked });
}
