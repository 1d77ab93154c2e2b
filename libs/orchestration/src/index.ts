export { type Actor, type AgentActor, type OperatorActor, actorName } from './actor.js';
export type { Outcome } from './outcome.js';
