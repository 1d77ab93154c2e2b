import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { finishTurn, lockSessions } from '@echelon/persistence';
import { answer, say, waitingChild } from '../../../test/support/waiting-child.js';
import { CreatedTasks } from '../../../test/support/created-tasks.js';
import { World } from '../../../test/support/world.js';
import type { AgentActor } from './actor.js';
import { QueueService } from './queue.service.js';
import { TaskPlanService } from './task-plan.service.js';
import { TaskService } from './task.service.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** Calls while the caller's turn is being ended, and the end commits when the call waits for it or is over. */
async function callDuringEnd(call: (caller: AgentActor, childId: string, questionId: string) => Promise<unknown>): Promise<unknown> {
  const one = await waitingChild(world);
  const { turn } = await world.claim(one.parent.sessionId);
  const caller = world.agent(one.parent, { turnId: turn.id });
  let calling: Promise<unknown> = Promise.resolve();
  await world.run(async (unit) => {
    await lockSessions(unit, [one.parent.sessionId]);
    await finishTurn(unit, turn.id, { outcome: 'stopped' });
    let isOver = false;
    calling = call(caller, one.child.id, one.questionId).finally(() => (isOver = true));
    while (!isOver && !(await isSomeoneWaiting())) await new Promise((resolve) => setImmediate(resolve));
  });
  return calling;
}

async function isSomeoneWaiting(): Promise<boolean> {
  const rows = await world.rows(
    `SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()`,
  );
  return rows.length > 0;
}

test.each<readonly [string, Parameters<typeof callDuringEnd>[0]]>([
  ['message', (caller, childId) => say(world, caller, childId)],
  [
    'answer',
    (caller, id, questionId) =>
      answer(world, { parent: { id: caller.taskId, sessionId: caller.sessionId }, child: { id, sessionId: '' }, questionId }, caller),
  ],
  [
    'creation',
    (caller) => new CreatedTasks(world).service.create(caller, new CreatedTasks(world).request({ parent_id: caller.taskId }), null),
  ],
])('a %s of a turn that ends meanwhile comes before that end or is refused, never both [K20]', async (_, call) => {
  expect(await callDuringEnd(call)).toMatchObject({ refused: true, code: 'TURN_NOT_ACTIVE' });
});

test('whoever may not do a thing is told that, before anything is said of a text that is too long', async () => {
  const [own, other] = [await world.task(), await world.task()];
  const stranger = world.agent(own);
  const long = 'x'.repeat(DEFAULT_LIMITS.prompt_bytes + 1);
  const tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
  const plans = new TaskPlanService(world.database, world.transactions, DEFAULT_LIMITS);
  const queue = new QueueService(world.transactions, DEFAULT_LIMITS);
  const { id: entryId } = await world.prompt(other.sessionId);
  const message = { prompt: long, delivery_mode: 'interrupt' as const };
  const creation = { prompt: long, parent_id: other.id, autopilot: false, blocked_by: [], start_agent: true };
  const outcomes = await Promise.all([
    queue.edit(stranger, { sessionId: other.sessionId, entryId }, { text: long, revision: 1 }),
    tasks.update(stranger, other.id, { prompt: long }),
    tasks.create(stranger, creation, null),
    plans.put(stranger, other.id, { content: long }, null),
    world.services.messages.send(stranger, own.id, message),
  ]);
  expect(outcomes).toMatchObject(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'SELF_MESSAGE'].map((code) => ({ code })));
  expect(await tasks.update(stranger, own.id, { prompt: long })).toMatchObject({ code: 'LIMIT_EXCEEDED' });
});
