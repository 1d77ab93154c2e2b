/** Operations that change the shape of a forest, or a queue: whose child, waiting for what, told what and in which order. */
import { asOperator, type Operation, settling, type Who } from './operation.js';
import type { Stage } from './stage.js';
import * as scenes from './structure-scenes.js';
import { PROMPTS } from './scripted-agents.js';

const entryAt = ({ child, entryIds }: Stage, at: number) => ({ sessionId: child.sessionId, entryId: entryIds[at] ?? '' });

const remove = (who: Who, cascade: boolean) =>
  asOperator(({ tasks }, stage) => tasks.delete(stage.operator, stage[who].id, { cascade }), scenes.waitingAlone);

const { complete, rest } = PROMPTS;
const SPAWN = { kind: 'task', make_primary: false } as const;

export const STRUCTURE_OPERATIONS: Readonly<Record<string, Operation>> = {
  reparent: asOperator(
    ({ tasks }, { operator, child, other }) => tasks.reparent(operator, child.id, other?.id ?? null),
    scenes.waitingBesideOther,
  ),
  detach: asOperator(({ tasks }, { operator, child }) => tasks.reparent(operator, child.id, null), scenes.waitingAlone),
  'stale by deleted child': remove('child', false),
  'stale by deleted parent': remove('parent', false),
  'delete a tree': remove('parent', true),
  'stop a tree': asOperator(({ tasks }, { operator, parent }) => tasks.stop(operator, parent.id, { cascade: true })),
  unarchive: asOperator(({ tasks }, { operator, child }) => tasks.unarchive(operator, child.id), scenes.archivedChild),
  'spawn a session': asOperator(
    ({ tasks }, { operator, child }) => tasks.spawnSession(operator, child.id, SPAWN, `spawn ${child.id}`),
    scenes.stoppedWithPrompt,
  ),
  'add a dependency': {
    ...asOperator(
      ({ tasks }, { operator, child, other }) => tasks.addDependency(operator, child.id, other?.id ?? ''),
      scenes.promptedBesideOther,
    ),
    later: ({ tasks }, { operator, child, other }) => tasks.removeDependency(operator, child.id, other?.id ?? ''),
  },
  'remove a dependency': asOperator(
    ({ tasks }, { operator, child, other }) => tasks.removeDependency(operator, child.id, other?.id ?? ''),
    scenes.blockedChild,
  ),
  'settle a task that another waits for': settling('child', scenes.completingBlocker),
  'edit an entry': asOperator(
    ({ queues }, stage) => queues.edit(stage.operator, entryAt(stage, 0), { text: complete, revision: 1 }),
    scenes.prompted(rest),
  ),
  'move an entry': asOperator(
    ({ queues }, stage) => queues.move(stage.operator, entryAt(stage, 1), { before: entryAt(stage, 0).entryId }),
    scenes.prompted(rest, complete),
  ),
  'remove an entry': asOperator(
    ({ sessions }, stage) => sessions.removeEntry(stage.operator, stage.child.sessionId, entryAt(stage, 1).entryId),
    scenes.prompted(rest, complete),
  ),
  'pause a queue': {
    ...asOperator(({ sessions }, { operator, child }) => sessions.setAutoRun(operator, child.sessionId, false), scenes.prompted(complete)),
    later: ({ sessions }, { operator, child }) => sessions.setAutoRun(operator, child.sessionId, true),
  },
  'resume a queue': asOperator(
    ({ sessions }, { operator, child }) => sessions.setAutoRun(operator, child.sessionId, true),
    scenes.pausedChild,
  ),
};
