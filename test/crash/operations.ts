/**
 * The operations whose process dies: for each what has happened before, and the operation itself. What they give to Postgres and how
 * their stories end stands in `crash-points.json`.
 */
import { expireQuestion } from '../../libs/orchestration/src/ending.js';
import { recoverLease } from '../../libs/orchestration/src/lease-recovery.js';
import { ROOT } from '../support/reached-root.js';
import { asAgent, asOperator, type Operation, settling, type Who } from './operation.js';
import * as scenes from './scenes.js';
import { answerTo, ASK, CALL, FAILED, PROMPTS, redirection } from './scripted-agents.js';
import { asking, listAnnouncements } from './stage.js';
import { STRUCTURE_OPERATIONS } from './structure-operations.js';

const ask = (scene: scenes.Scene) => asAgent('child', scene, ({ questions }, actor) => questions.askParent(actor, ASK, CALL));

const redirect = (scene: scenes.Scene, interrupts: boolean) =>
  asAgent('parent', scene, ({ messages }, actor, { child }) => messages.send(actor, child.id, redirection(child.id, { interrupts })));

const cancel = (who: Who) => asOperator(({ tasks }, stage) => tasks.update(stage.operator, stage[who].id, { state: 'cancelled' }));
const archive = (who: Who) => asOperator(({ tasks }, stage) => tasks.archive(stage.operator, stage[who].id));
const stop = (who: Who) => asOperator(({ tasks }, stage) => tasks.stop(stage.operator, stage[who].id, { cascade: false }));

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
  'move to a step': asOperator(
    ({ tasks }, { operator, child, stepId }) => tasks.moveToStep(operator, child.id, { workflow_step_id: stepId }),
    scenes.restingChild,
  ),
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
  ...STRUCTURE_OPERATIONS,
};

/** The operation of a name; a name that there is not is a broken promise. */
export function operationOf(name: string): Operation {
  const operation = OPERATIONS[name];
  if (!operation) throw new Error(`no operation ${name}`);
  return operation;
}
