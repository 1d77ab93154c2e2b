/** Who calls. Every public method of a service takes it first and checks authority itself. */
export interface OperatorActor {
  readonly kind: 'operator';
  readonly tokenId: string;
  readonly operatorId: string;
  readonly name: string;
}

/** An agent, in one session of one task. `callId` is the model's or the client's id of the tool call, where there is one (K16). */
export interface AgentActor {
  readonly kind: 'agent';
  readonly workspaceId: string;
  readonly taskId: string;
  readonly sessionId: string;
  /** The turn that the call belongs to, where we run it; an agent that somebody else runs acts in the session's open one. */
  readonly turnId: string | null;
  readonly callId: string | null;
  /** The token that an agent from outside calls with: it holds the session's lease. */
  readonly tokenId?: string;
}

export type Actor = OperatorActor | AgentActor;

/** The actor as audit rows and logs name it. */
export function actorName(actor: Actor): string {
  return actor.kind === 'operator' ? `operator:${actor.operatorId}` : `session:${actor.sessionId}`;
}
