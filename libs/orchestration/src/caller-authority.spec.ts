import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { finishTurn, lockSessions } from '@echelon/persistence';
import { answer, say, waitingChild } from '../../../test/support/waiting-child.js';
import { CreatedTasks } from '../../../test/support/created-tasks.js';
import { World } from '../../../test/support/world.js';
import type { AgentActor } from './actor.js';

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
