import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answer, entriesOfKind, waitingChild, type WaitingChild } from '../../../test/support/waiting-child.js';
import { accepted, World } from '../../../test/support/world.js';
import { NotificationService } from './notification.service.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

async function notifications(one: WaitingChild): Promise<readonly unknown[]> {
  const rows = await world.rows<{ payload: string }>(
    `SELECT payload FROM event WHERE type = 'operator.notified' AND task_id = $1 ORDER BY id`,
    [one.parent.id],
  );
  return rows.map(({ payload }) => JSON.parse(payload) as unknown);
}

async function reminders(one: WaitingChild) {
  return entriesOfKind(world, one.parent.sessionId, 'reminder');
}

/** The parent's next turn runs and ends without an answer. */
async function restUnanswered(one: WaitingChild): Promise<void> {
  await world.endTurn(await world.claim(one.parent.sessionId));
}

describe('a parent that leaves a question unanswered', () => {
  test('is reminded once; after a further turn operators are told once; then nothing more [S7]', async () => {
    const one = await waitingChild(world);
    await restUnanswered(one);
    const [reminder, ...more] = await reminders(one);
    expect(more).toEqual([]);
    expect(reminder).toMatchObject({ state: 'queued', question_id: one.questionId, sender_kind: 'system' });
    expect(reminder?.text).toContain(`"reply_to_question_id":"${one.questionId}"`);
    expect(await notifications(one)).toEqual([]);

    await restUnanswered(one);
    expect(await notifications(one)).toEqual([
      {
        reason: 'question_unanswered',
        question_id: one.questionId,
        child_task_id: one.child.id,
        notification_id: expect.any(String) as unknown,
      },
    ]);

    await world.endTurn(await world.openTurn(one.parent.sessionId));
    expect(await reminders(one)).toHaveLength(1);
    expect(await notifications(one)).toHaveLength(1);
    expect(await world.tryClaim(one.parent.sessionId)).toBeNull();
  });

  test('is one notification, listed for operators until one of them acknowledges it [S7]', async () => {
    const one = await waitingChild(world);
    await restUnanswered(one);
    await restUnanswered(one);
    const service = new NotificationService(world.database, world.transactions);
    const mine = async (all: boolean) =>
      accepted(await service.list(world.operator, { limit: 50, all })).items.filter((told) => told.question_id === one.questionId);
    const [told, ...more] = await mine(false);
    expect(more).toEqual([]);
    expect(told).toMatchObject({ reason: 'question_unanswered', task_id: one.parent.id, acknowledged_at: null });
    const id = told?.id ?? '';
    expect(await service.acknowledge(world.agent(one.parent), id)).toMatchObject({ code: 'FORBIDDEN' });
    const seen = accepted(await service.acknowledge(world.operator, id));
    expect(seen.acknowledged_at).not.toBeNull();
    expect(accepted(await service.acknowledge(world.operator, id))).toEqual(seen);
    expect(await mine(false)).toEqual([]);
    expect(await mine(true)).toEqual([seen]);
  });

  test('is not reminded before it was told, nor while work waits, another session runs, or it waits itself [S7]', async () => {
    const untold = await waitingChild(world);
    await world.prompt(untold.parent.sessionId);
    await restUnanswered(untold);
    expect(await reminders(untold)).toEqual([]);

    const busy = await waitingChild(world);
    const other = await world.session(busy.parent);
    await world.prompt(other);
    const elsewhere = await world.claim(other);
    await restUnanswered(busy);
    expect(await reminders(busy)).toEqual([]);
    await world.endTurn(elsewhere);
    expect(await entriesOfKind(world, other, 'reminder')).toHaveLength(1);

    const grandparent = await world.task();
    const relaying = await waitingChild(world, await world.task({ parent: grandparent, autopilot: true }));
    const claimed = await world.claim(relaying.parent.sessionId);
    const actor = world.agent(relaying.parent, { turnId: claimed.turn.id });
    accepted(await world.services.questions.askParent(actor, { questions: [{ prompt: 'Which one?' }] }, 'call-1'));
    await world.endTurn(claimed);
    expect(await reminders(relaying)).toEqual([]);
  });

  test('is not reminded by another session while the turn that reads the question is between two holders [S7]', async () => {
    const one = await waitingChild(world);
    const reading = await world.claim(one.parent.sessionId);
    const other = await world.session(one.parent);
    const elsewhere = await world.openTurn(other);
    await world.handOver(reading);
    await world.endTurn(elsewhere);
    expect(await entriesOfKind(world, other, 'reminder')).toEqual([]);
    await restUnanswered(one);
    expect(await reminders(one)).toMatchObject([{ state: 'queued' }]);
  });

  test('is reminded as well when the turn that read the question is stopped, held or not [S7]', async () => {
    const running = await waitingChild(world);
    const held = await world.claim(running.parent.sessionId);
    accepted(await world.services.turns.stop(world.operator, held.turn.id));
    await world.endTurn(held);
    expect(await reminders(running)).toMatchObject([{ state: 'queued' }]);

    const left = await waitingChild(world);
    const unheld = await world.claim(left.parent.sessionId);
    await world.handOver(unheld);
    accepted(await world.services.turns.stop(world.operator, unheld.turn.id));
    expect(await reminders(left)).toMatchObject([{ state: 'queued' }]);
  });

  test('and answers on the reminder is told nothing more', async () => {
    const one = await waitingChild(world);
    await restUnanswered(one);
    const claimed = await world.claim(one.parent.sessionId);
    expect(accepted(await answer(world, one, world.agent(one.parent))).status).toBe('sent');
    await world.endTurn(claimed);
    expect(await notifications(one)).toEqual([]);
    expect(await world.tryClaim(one.parent.sessionId)).toBeNull();
  });

  test('and ends the session that was told leaves it to another one, whole', async () => {
    const one = await waitingChild(world);
    await restUnanswered(one);
    const other = await world.session(one.parent);
    await world.endSession(one.parent, one.parent.sessionId);
    const told = await entriesOfKind(world, other, 'question');
    expect(told).toMatchObject([{ state: 'queued', question_id: one.questionId }]);
    expect(await reminders(one)).toMatchObject([{ state: 'cancelled', cause: 'redirected' }]);
    await world.claim(other);
    expect(accepted(await answer(world, one, world.agent(one.parent, { sessionId: other }))).status).toBe('sent');
    expect(await notifications(one)).toEqual([]);
  });

  test('and ends the session that was told leaves it to a paused one only with a word to operators [A8]', async () => {
    const one = await waitingChild(world);
    const other = await world.session(one.parent);
    await world.rows('UPDATE session SET auto_run = false WHERE id = $1', [other]);
    await world.endSession(one.parent, one.parent.sessionId);
    expect(await entriesOfKind(world, other, 'question')).toMatchObject([{ state: 'queued', question_id: one.questionId }]);
    expect(await notifications(one)).toMatchObject([{ reason: 'question_to_paused_parent', question_id: one.questionId }]);
  });
});
