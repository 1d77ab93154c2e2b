/** An operation whose process dies, and how one is made of what an agent, a person or the holder of a turn does. */
import { settle } from '../../libs/orchestration/src/settle.js';
import type { AgentActor } from '../../libs/orchestration/src/actor.js';
import type { Hands } from './hands.js';
import type { Machine } from './machine.js';
import type { Scene } from './scenes.js';
import { agentOf, heldTurn, type Stage, waiting } from './stage.js';

export interface Operation {
  readonly scene: Scene;
  /** Reads what the operation needs; what it gives is the operation, from its first statement to its last. */
  readonly prepare: (machine: Machine, stage: Stage) => Promise<() => Promise<unknown>>;
  /** Who called is a person, and calls once more; an agent does so when its turn runs again. */
  readonly again?: true;
  /** It takes what it finds, also what others left: nothing else happens beside it. */
  readonly alone?: true;
  /** What the operator does when everything rests. */
  readonly later?: (hands: Hands, stage: Stage) => Promise<object>;
}

export type Who = 'parent' | 'child';

export function asAgent(who: Who, scene: Scene, act: (hands: Hands, actor: AgentActor, stage: Stage) => Promise<unknown>): Operation {
  const prepare: Operation['prepare'] = async ({ hands }, stage) => {
    const actor = await agentOf(hands.database, stage, stage[who]);
    return () => act(hands, actor, stage);
  };
  return { scene, prepare };
}

/** What a person does, while the child waits if nothing else is said. */
export function asOperator(act: (hands: Hands, stage: Stage) => Promise<unknown>, scene: Scene = waiting): Operation {
  return {
    scene,
    again: true,
    prepare:
      async ({ hands }, stage) =>
      () =>
        act(hands, stage),
  };
}

/** The holder settles the open turn of a task. */
export function settling(who: Who, scene: Scene): Operation {
  const prepare: Operation['prepare'] = async ({ hands }, stage) => {
    const claimed = await heldTurn(hands.database, stage[who]);
    const report = { stop: stage.stop, record: () => Promise.resolve() };
    return () => settle(hands.transactions, claimed, report, { yieldToOthers: false });
  };
  return { scene, prepare };
}
