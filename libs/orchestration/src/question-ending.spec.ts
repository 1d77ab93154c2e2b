import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ASK, entriesOfKind, readQuestion, say, waitingChild, type WaitingChild } from '../../../test/support/waiting-child.js';
import { accepted, World } from '../../../test/support/world.js';
import { endSessionsOf, expireQuestion, lockFamilies } from './ending.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** The question is stale, and the child neither waits nor was told anything. */
async function expectStaleOf(one: WaitingChild, cause: string): Promise<void> {
  expect(await readQuestion(world, one.questionId)).toMatchObject({ status: 'stale', cause, ended_at: expect.any(String) });
  expect(await entriesOfKind(world, one.child.sessionId, 'notice')).toEqual([]);
  expect(await world.tryClaim(one.child.sessionId)).toBeNull();
}

/** The question is stale, and the child's next turn opens with the notice that says why. */
async function expectChildTold(one: WaitingChild, cause: string): Promise<void> {
  expect(await readQuestion(world, one.questionId)).toMatchObject({ status: 'stale', cause });
  const { turn } = await world.claim(one.child.sessionId);
  const told = await entriesOfKind(world, one.child.sessionId, 'notice');
  expect(told).toMatchObject([{ rank: 0, state: 'delivered', turn_id: turn.id, sender_kind: 'system' }]);
  expect(told[0]?.text).toContain('> Which database?');
  expect(told[0]?.text).toContain('best judgment');
  expect(told[0]?.text).not.toContain('_kandev');
}

describe('a pending question when its child ends', () => {
  test.each(['complete', 'fail', 'cancel'] as const)('is stale in the transaction that makes the task %s [S3] [S9]', async (event) => {
    const one = await waitingChild(world);
    await world.move(one.child, event);
    await expectStaleOf(one, 'task_ended');
    expect(await world.entries(one.parent.sessionId)).toMatchObject([
      { kind: 'question', state: 'cancelled', cause: 'stale' },
      { kind: 'alert' },
    ]);
  });

  test.each(['session_ended', 'task_archived', 'task_deleted'] as const)('is stale with its session: %s [S3] [S9]', async (cause) => {
    const one = await waitingChild(world);
    await world.endSession(one.child, one.child.sessionId, cause);
    await expectStaleOf(one, cause);
    expect(await world.entries(one.parent.sessionId)).toMatchObject([{ kind: 'question', state: 'cancelled', cause: 'stale' }]);
    expect(await world.tryClaim(one.parent.sessionId)).toBeNull();
  });

  test('stays pending when only a turn is stopped [S3]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const claimed = await world.openTurn(child.sessionId);
    const { question_id } = accepted(await world.services.questions.askParent(world.agent(child), ASK, 'call-1'));
    accepted(await world.services.turns.stop(world.operator, claimed.turn.id));
    await world.endTurn(claimed);
    expect(await readQuestion(world, question_id)).toMatchObject({ status: 'pending' });
    expect(await world.sessionRow(child.sessionId)).toMatchObject({ state: 'waiting_for_input' });
  });
});

describe('a pending question when its parent ends', () => {
  test.each(['complete', 'fail', 'cancel'] as const)('is stale and the child is told: the parent took %s [S4] [K9]', async (event) => {
    const one = await waitingChild(world);
    await world.move(one.parent, event);
    await expectChildTold(one, 'parent_ended');
  });

  test('is stale and the child is told: the parent was archived [S4]', async () => {
    const one = await waitingChild(world);
    await world.run(async (unit) => {
      await lockFamilies(unit, [one.parent.id]);
      await endSessionsOf(unit, one.parent.id, 'cancelled', 'task_archived');
    });
    await expectChildTold(one, 'parent_archived');
  });

  test('is stale and the child is told: the last session that could answer ended [S4]', async () => {
    const one = await waitingChild(world);
    const other = await world.session(one.parent);
    await world.session(one.parent, { kind: 'quick_chat' });
    await world.endSession(one.parent, other);
    expect(await readQuestion(world, one.questionId)).toMatchObject({ status: 'pending' });
    await world.endSession(one.parent, one.parent.sessionId);
    await expectChildTold(one, 'parent_ended');
  });

  test('moves with its undelivered prompt to another session that can answer', async () => {
    const one = await waitingChild(world);
    const other = await world.session(one.parent);
    await world.endSession(one.parent, one.parent.sessionId);
    expect(await world.entries(one.parent.sessionId)).toMatchObject([{ kind: 'question', state: 'cancelled', cause: 'redirected' }]);
    expect(await world.entries(other)).toMatchObject([{ kind: 'question', state: 'queued', question_id: one.questionId }]);
    accepted(await say(world, world.operator, one.child.id));
    expect(await world.entries(other)).toMatchObject([{ state: 'cancelled', cause: 'superseded' }]);
    expect(await world.tryClaim(other)).toBeNull();
  });
});

describe('a pending question', () => {
  test('is superseded by an operator’s prompt and by the direct parent’s, which then open the next turn [S1] [S9]', async () => {
    for (const who of ['operator', 'parent'] as const) {
      const one = await waitingChild(world);
      await world.prompt(one.child.sessionId, 'Queued before.');
      const by = who === 'operator' ? world.operator : world.agent(one.parent);
      const sent = accepted(await say(world, by, one.child.id));
      expect(sent.status).toBe('sent');
      expect(await readQuestion(world, one.questionId)).toMatchObject({ status: 'superseded', cause: `${who}_prompt` });
      const { turn } = await world.claim(one.child.sessionId);
      const opener = (await world.entries(one.child.sessionId)).find(({ id }) => id === sent.delivery_id);
      expect(opener).toMatchObject({ rank: 0, state: 'delivered', turn_id: turn.id });
      expect(await entriesOfKind(world, one.child.sessionId, 'notice')).toEqual([]);
      expect(await world.entries(one.parent.sessionId)).toMatchObject([{ state: 'cancelled', cause: 'superseded' }]);
    }
  });

  test('is not superseded by siblings or strangers: their messages and earlier entries stay queued [S2]', async () => {
    const one = await waitingChild(world);
    await world.prompt(one.child.sessionId, 'Queued before.');
    const sibling = await world.task({ parent: one.parent });
    const stranger = await world.task();
    for (const task of [sibling, stranger]) {
      const sent = await say(world, world.agent(task), one.child.id);
      expect(accepted(sent).status).toBe('queued');
    }
    expect(await readQuestion(world, one.questionId)).toMatchObject({ status: 'pending' });
    expect(await world.tryClaim(one.child.sessionId)).toBeNull();
    expect((await world.entries(one.child.sessionId)).slice(1).map(({ state }) => state)).toEqual(['queued', 'queued', 'queued']);
  });

  test('ends with its profile’s time-out, and the child is told [S8]', async () => {
    const one = await waitingChild(world);
    expect(await expireQuestion(world.transactions, one.questionId)).toBe(true);
    expect(await expireQuestion(world.transactions, one.questionId)).toBe(false);
    await expectChildTold(one, 'timeout');
  });

  test('is as it was for a process that starts anew: no second prompt, nothing runs [S6]', async () => {
    const one = await waitingChild(world);
    const before = await readQuestion(world, one.questionId);
    const services = world.restarted();
    expect(accepted(await services.questions.get(world.operator, one.questionId))).toEqual(before);
    expect(accepted(await services.questions.askParent(world.agent(one.child), ASK, 'call-1'))).toMatchObject({
      question_id: one.questionId,
    });
    expect(await world.tryClaim(one.child.sessionId)).toBeNull();
    expect(await world.entries(one.parent.sessionId)).toHaveLength(1);
  });
});
