/**
 * Idempotency keys of tool calls (K16).
 *
 * K1  A call id that a retry carries again is the key; the prefix keeps such ids, hashes and keys that an agent wrote apart.
 * K2  Without one, the same session, turn, tool and arguments are the same call, whatever the order of the arguments.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '@echelon/domain';
import type { Actor, AgentActor } from '@echelon/orchestration';

export interface IdentifiedCall {
  readonly actor: AgentActor;
  /** The session's open turn; `null` when it has none. */
  readonly turnId: string | null;
  readonly tool: string;
  /** Validated arguments. */
  readonly input: object;
}

/** Key of a call that has an id of its own; `null` for one that has not. */
export function keyOfCallId(actor: Actor): string | null {
  return actor.kind === 'agent' && actor.callId !== null ? `call:${actor.callId}` : null;
}

/** Key of a call: its id, or else what it says, where and when. */
export function keyOfCall(call: IdentifiedCall): string {
  return keyOfCallId(call.actor) ?? keyOfContent(call);
}

/** Key of what a call says: equal for every repetition, whatever its call id. */
export function keyOfContent({ actor, turnId, tool, input }: IdentifiedCall): string {
  const identity = canonicalJson([actor.sessionId, turnId, tool, input]);
  return `hash:${createHash('sha256').update(identity).digest('hex')}`;
}
