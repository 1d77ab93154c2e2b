/** Whether a call of an agent still belongs to a turn that may act. */
import { refuse, type Refusal } from '@echelon/domain';
import { findOpenTurn, type Tx, type TurnRow } from '@echelon/persistence';
import type { Actor } from './actor.js';

/** Refuses a call from a turn that is over, that is being stopped (K18), or that ended with a question to the parent (A16, K6b). */
export function refuseTurn(turn: TurnRow | null, actor: { readonly turnId: string | null }): Refusal | null {
  if (actor.turnId !== null && turn?.id !== actor.turnId) return refuse('TURN_NOT_ACTIVE');
  if (turn?.stop_requested_at) return refuse('TURN_STOPPING');
  return turn?.ended_by_question_id ? refuse('TURN_ENDED_BY_QUESTION', { question_id: turn.ended_by_question_id }) : null;
}

/** The same for the turn that the actor's session has open now; an operator has none and is never refused. */
export async function refuseEndedTurn(tx: Tx, actor: Actor): Promise<Refusal | null> {
  return actor.kind === 'agent' ? refuseTurn(await findOpenTurn(tx, actor.sessionId), actor) : null;
}
