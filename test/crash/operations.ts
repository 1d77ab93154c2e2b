/**
 * The operations whose process dies: for each what has happened before, and the operation itself. What they give to Postgres and how
 * their stories end stands in `crash-points.json`.
 */
import { expireQuestion } from '../../libs/orchestration/src/ending.js';
import { recoverLease } from '../../libs/orchestration/src/lease-recovery.js';
import { settle } from '../../libs/orchestration/src/settle.js';
import type { AgentActor } from '../../libs/orchestration/src/actor.js';
import { ROOT } from '../support/reached-root.js';
import type { Hands } from './hands.js';
import type { Machine } from './machine.js';
import * as scenes from './scenes.js';
import { answerTo, ASK, CALL, FAILED, PROMPTS, redirection } from './scripted-agents.js';
import { agentOf, asking, heldTurn, listAnnouncements, type Stage, waiting } from './stage.js';

export interface Operation {
  readonly scene: scenes.Scene;
  /** Reads what the operation needs; what it gives is the operation, from its first statement to its last. */
  readonly prepare: (machine: Machine, stage: Stage) => Promise<() => Promise<unknown>>;
  /** Who called is a person, and calls once more; an agent does so when its turn runs again. */
  readonly again?: true;
  /** It takes what it finds, also what others left: nothing else happens beside it. */
  readonly alone?: true;
  /** What the operator does when everything rests. */
  readonly later?: (hands: Hands, stage: Stage) => Promise<object>;
}

type Who = 'parent' | 'child';

function asAgent(who: Who, scene: scenes.Scene, act: (hands: Hands, actor: AgentActor, stage: Stage) => Promise<unknown>): Operation {
  const prepare: Operation['prepare'] = async ({ hands }, stage) => {
    const actor = await agentOf(hands.database, stage, stage[who]);
    return () => act(hands, actor, stage);
  };
  return { scene, prepare };
}

/** What a person does while the child waits. */
function asOperator(act: (hands: Hands, stage: Stage) => Promise<unknown>): Operation {
  return {
    scene: waiting,
    again: true,
    prepare:
      async ({ hands }, stage) =>
      () =>
        act(hands, stage),
  };
}

const ask = (scene: scenes.Scene) => asAgent('child', scene, ({ questions }, actor) => questions.askParent(actor, ASK, CALL));

const redirect = (scene: scenes.Scene, interrupts: boolean) =>
  asAgent('parent', scene, ({ messages }, actor, { child }) => messages.send(actor, child.id, redirection(child.id, { interrupts })));

const cancel = (who: Who) => asOperator(({ tasks }, stage) => tasks.update(stage.operator, stage[who].id, { state: 'cancelled' }));
const archive = (who: Who) => asOperator(({ tasks }, stage) => tasks.archive(stage.operator, stage[who].id));
const stop = (who: Who) => asOperator(({ tasks }, stage) => tasks.stop(stage.operator, stage[who].id, { cascade: false }));

/** The holder settles the open turn of a task. */
function settling(who: Who, scene: scenes.Scene): Operation {
  const prepare: Operation['prepare'] = async ({ hands }, stage) => {
    const claimed = await heldTurn(hands.database, stage[who]);
    const report = { stop: stage.stop, record: () => Promise.resolve() };
    return () => settle(hands.transactions, claimed, report, { yieldToOthers: false });
  };
  return { scene, prepare };
}

/** The process that committed hands on what it announced. */
const handOn: Operation['prepare'] = async ({ hands, relay }, { parent }) => {
  const wakes = await listAnnouncements(hands.database, parent);
  return async () => {
    relay.committed({ wakes, told: false });
    await relay.idle();
  };
};

const handOnToFreeSlot: Operation['prepare'] = (machine, stage) => {
  machine.relay.offerDirectClaims({ rootId: ROOT.id, claim: (sessionId) => machine.runner.offer(sessionId) });
  return handOn(machine, stage);
};

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  ask: ask(scenes.busyChild(PROMPTS.ask)),
  'ask again': ask(asking),
  'ask a paused parent': {
    ...ask(scenes.pausedParent),
    later: ({ sessions }, { operator, parent }) => sessions.setAutoRun(operator, parent.sessionId, true),
  },
  answer: asAgent('parent', scenes.toldParent, ({ messages }, actor, { child, questionId }) =>
    messages.send(actor, child.id, answerTo(questionId)),
  ),
  'supersede as operator': asOperator(({ messages }, { operator, child }) =>
    messages.send(operator, child.id, redirection(child.id, { interrupts: false })),
  ),
  'supersede as parent': redirect(scenes.busyParent(PROMPTS.redirect), false),
  'supersede by interrupt': redirect(scenes.busyParent(PROMPTS.interrupt, asking), true),
  'stale by time-out': {
    scene: scenes.expiredQuestion,
    prepare:
      async ({ hands }, { questionId }) =>
      () =>
        expireQuestion(hands.transactions, questionId),
  },
  'stale by stopped child': stop('child'),
  'stale by cancelled child': cancel('child'),
  'stale by archived child': archive('child'),
  'stale by stopped parent': stop('parent'),
  'stale by cancelled parent': cancel('parent'),
  'stale by archived parent': archive('parent'),
  'stale by completed parent': settling('parent', scenes.completingParent),
  'settle an asking turn': settling('child', asking),
  'settle a completed task': settling('child', scenes.completingChild),
  'settle and drain': settling('child', scenes.busyChild(PROMPTS.rest, { reason: 'completed' }, PROMPTS.ask)),
  'settle and park': {
    ...settling('parent', scenes.parkingParent),
    later: ({ questions }, { operator, questionId }) => questions.answerUser(operator, questionId, { rejected: true }),
  },
  'settle by the rule of a step': settling('child', scenes.movingChild),
  'settle a deferred move': settling('child', scenes.movedChild),
  'move to a step': {
    ...asOperator(({ tasks }, { operator, child, stepId }) => tasks.moveToStep(operator, child.id, { workflow_step_id: stepId })),
    scene: scenes.restingChild,
  },
  'settle and hand over': settling('child', scenes.busyChild(PROMPTS.ask, { reason: 'handed_over' })),
  'settle a failed turn': settling('child', scenes.busyChild(PROMPTS.fail, FAILED)),
  'settle a stopped turn': settling('child', scenes.stoppedChild),
  'settle and remind': settling('parent', scenes.reluctantParent),
  'relay to the queue': { scene: scenes.announcedQuestion, prepare: handOn },
  'relay to a free slot': { scene: scenes.announcedQuestion, prepare: handOnToFreeSlot },
  'relay by the sweep': {
    scene: scenes.announcedQuestion,
    alone: true,
    prepare:
      async ({ relay }) =>
      () =>
        relay.sweep(0).then(() => relay.idle()),
  },
  'recover a lease': {
    scene: scenes.voidLease,
    prepare:
      async ({ hands }, { child }) =>
      () =>
        recoverLease(hands.transactions, child.sessionId),
  },
};

/** The operation of a name; a name that there is not is a broken promise. */
export function operationOf(name: string): Operation {
  const operation = OPERATIONS[name];
  if (!operation) throw new Error(`no operation ${name}`);
  return operation;
}
