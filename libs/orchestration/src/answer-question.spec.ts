import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TurnRow } from '@echelon/persistence';
import { answer, ASK, entriesOfKind, readQuestion, waitingChild, type WaitingChild } from '../../../test/support/waiting-child.js';
import { InjectedFailure } from '../../../test/support/failing-database.js';
import { accepted, World } from '../../../test/support/world.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

function turnsOf(sessionId: string): Promise<readonly TurnRow[]> {
  return world.rows<TurnRow>('SELECT * FROM turn WHERE session_id = $1 ORDER BY number', [sessionId]);
}

/** Nothing was delivered and the question still waits. */
async function expectUntouched(one: WaitingChild): Promise<void> {
  expect((await readQuestion(world, one.questionId)).status).toBe('pending');
  expect(await entriesOfKind(world, one.child.sessionId, 'answer')).toEqual([]);
}

describe('the answer of the direct parent', () => {
  test('opens exactly one turn of the child, in the session that asked, with the attributed text [R1]', async () => {
    const one = await waitingChild(world);
    const other = await world.session(one.child);
    await world.rows('UPDATE session SET is_primary = false WHERE id = $1', [one.child.sessionId]);
    await world.rows('UPDATE session SET is_primary = true WHERE id = $1', [other]);
    const sent = accepted(await answer(world, one, world.agent(one.parent), { prompt: 'Postgres,\nbecause of SKIP LOCKED.' }));
    expect(sent).toEqual({
      task_id: one.child.id,
      session_id: one.child.sessionId,
      reply_to_question_id: one.questionId,
      status: 'sent',
      delivery_id: expect.any(String),
    });
    const stored = accepted(await world.services.questions.get(world.operator, one.questionId));
    expect(stored).toMatchObject({
      status: 'answered',
      answer: { text: 'Postgres,\nbecause of SKIP LOCKED.', session_id: one.parent.sessionId, delivery_id: sent.delivery_id },
    });

    const { turn } = await world.claim(one.child.sessionId);
    const [entry] = await entriesOfKind(world, one.child.sessionId, 'answer');
    expect(entry).toMatchObject({ id: sent.delivery_id, rank: 0, state: 'delivered', turn_id: turn.id, sender_task_id: one.parent.id });
    for (const words of ['"The parent"', one.parent.id, one.questionId, '> Which database?', '> Postgres,\n> because of SKIP LOCKED.']) {
      expect(entry?.text).toContain(words);
    }
    expect(await world.entries(other)).toEqual([]);
    expect(await turnsOf(one.child.sessionId)).toHaveLength(2);
  });

  test('waits for the resume of a paused queue [R1]', async () => {
    const one = await waitingChild(world);
    await world.rows('UPDATE session SET auto_run = false WHERE id = $1', [one.child.sessionId]);
    expect(accepted(await answer(world, one, world.agent(one.parent))).status).toBe('queued');
    expect(await world.tryClaim(one.child.sessionId)).toBeNull();
    await world.rows('UPDATE session SET auto_run = true WHERE id = $1', [one.child.sessionId]);
    const { turn } = await world.claim(one.child.sessionId);
    expect(await entriesOfKind(world, one.child.sessionId, 'answer')).toMatchObject([{ turn_id: turn.id }]);
  });

  test('a second time, or with another text, is already answered by the same delivery [R2]', async () => {
    const one = await waitingChild(world);
    const first = accepted(await answer(world, one, world.agent(one.parent)));
    const again = { ...first, status: 'already_answered' };
    expect(await answer(world, one, world.agent(one.parent))).toEqual(again);
    expect(await answer(world, one, world.agent(one.parent), { prompt: 'SQLite!' })).toEqual(again);
    expect(await entriesOfKind(world, one.child.sessionId, 'answer')).toHaveLength(1);
  });

  test('a hundred times at once, from several sessions, is accepted once [R3]', async () => {
    const one = await waitingChild(world);
    const sessions = [one.parent.sessionId, await world.session(one.parent), await world.session(one.parent)];
    const sent = await Promise.all(
      Array.from({ length: 100 }, async (_, index) =>
        accepted(await answer(world, one, world.agent(one.parent, { sessionId: sessions[index % 3]! }), { prompt: `Answer ${index}.` })),
      ),
    );
    expect(sent.filter(({ status }) => status === 'sent')).toHaveLength(1);
    expect(sent.filter(({ status }) => status === 'already_answered')).toHaveLength(99);
    expect(new Set(sent.map(({ delivery_id }) => delivery_id)).size).toBe(1);
    expect(await entriesOfKind(world, one.child.sessionId, 'answer')).toHaveLength(1);
    await world.endTurn(await world.claim(one.child.sessionId));
    expect(await world.tryClaim(one.child.sessionId)).toBeNull();
    expect(await turnsOf(one.child.sessionId)).toHaveLength(2);
  });

  test('takes back the question that still waits in the parent’s queue', async () => {
    const one = await waitingChild(world);
    accepted(await answer(world, one, world.agent(one.parent, { sessionId: await world.session(one.parent) })));
    expect(await world.entries(one.parent.sessionId)).toMatchObject([{ kind: 'question', state: 'cancelled', cause: 'answered' }]);
    expect(await world.tryClaim(one.parent.sessionId)).toBeNull();
  });

  test('while the child still finishes its turn is first in line for the next one [R11]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const claimed = await world.openTurn(child.sessionId);
    await world.prompt(child.sessionId, 'Something ordinary.');
    const { question_id: questionId } = accepted(await world.services.questions.askParent(world.agent(child), ASK, 'call-1'));
    const one = { parent, child, questionId };
    expect(accepted(await answer(world, one, world.agent(parent))).status).toBe('queued');
    await world.endTurn(claimed);
    const next = await world.claim(child.sessionId);
    expect(await entriesOfKind(world, child.sessionId, 'answer')).toMatchObject([{ state: 'delivered', turn_id: next.turn.id }]);
  });

  test('stores all or nothing, whichever statement fails, and a retry finishes it [R10]', async () => {
    const one = await waitingChild(world);
    const input = { prompt: 'Postgres.', delivery_mode: 'queued', reply_to_question_id: one.questionId } as const;
    let statement = 1;
    for (; ; statement++) {
      const sending = world.failingAt(statement).messages.send(world.agent(one.parent), one.child.id, input);
      const outcome = await sending.catch((error: unknown) => error);
      if (!(outcome instanceof InjectedFailure)) break;
      await expectUntouched(one);
      expect((await world.sessionRow(one.child.sessionId)).state).toBe('waiting_for_input');
    }
    expect(statement).toBeGreaterThan(10);
    expect(await entriesOfKind(world, one.child.sessionId, 'answer')).toHaveLength(1);
    expect(accepted(await answer(world, one, world.agent(one.parent))).status).toBe('already_answered');
    await world.endTurn(await world.claim(one.child.sessionId));
    expect(await turnsOf(one.child.sessionId)).toHaveLength(2);
  });
});

describe('an answer is refused, without a delivery', () => {
  test('from a stranger, a sibling, a grandparent, the child itself and an operator, and tells nothing of the question [R4]', async () => {
    const grandparent = await world.task();
    const parent = await world.task({ parent: grandparent, autopilot: true });
    const one = await waitingChild(world, parent);
    const sibling = await world.task({ parent, autopilot: true });
    const stranger = await world.task();
    for (const task of [stranger, sibling, grandparent, one.child]) {
      const refusal = await answer(world, one, world.agent(task));
      expect(refusal).toEqual({ refused: true, code: 'QUESTION_NOT_YOURS', details: {} });
    }
    expect(await answer(world, one, world.operator)).toMatchObject({ code: 'QUESTION_NOT_YOURS' });
    await expectUntouched(one);
    for (const task of [stranger, sibling, grandparent]) {
      expect(await world.services.questions.get(world.agent(task), one.questionId)).toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  test('to an unknown id, to an ordinary message, to a question of an operator’s [R5]', async () => {
    const one = await waitingChild(world);
    const normal = await world.task({ parent: one.parent });
    await world.openTurn(normal.sessionId);
    const clarification = accepted(await world.services.questions.askUser(world.agent(normal), ASK, 'call-1'));
    const [ordinary] = await world.rows<{ id: string }>(`SELECT id FROM message WHERE session_id = $1 AND type = 'prompt'`, [
      one.child.sessionId,
    ]);
    for (const id of ['nonsense', one.child.id, ordinary!.id, clarification.id]) {
      expect(await answer(world, one, world.agent(one.parent), { reply_to_question_id: id })).toMatchObject({ code: 'QUESTION_UNKNOWN' });
    }
    await expectUntouched(one);
    expect(accepted(await world.services.questions.get(world.operator, clarification.id)).status).toBe('pending');
  });

  test('to the right question with the wrong task or session [R6]', async () => {
    const one = await waitingChild(world);
    const sibling = await world.task({ parent: one.parent });
    const by = world.agent(one.parent);
    expect(await answer(world, one, by, { taskId: sibling.id })).toMatchObject({
      code: 'QUESTION_TARGET_MISMATCH',
      details: { field: 'task_id' },
    });
    const other = await world.session(one.child);
    expect(await answer(world, one, by, { session_id: other })).toMatchObject({
      code: 'QUESTION_TARGET_MISMATCH',
      details: { field: 'session_id' },
    });
    await expectUntouched(one);
    expect(accepted(await answer(world, one, by, { session_id: one.child.sessionId })).status).toBe('sent');
  });

  test('to a question that was superseded or is stale, naming its state [R7] [S5]', async () => {
    const superseded = await waitingChild(world);
    accepted(await world.services.messages.send(world.operator, superseded.child.id, { prompt: 'Forget it.', delivery_mode: 'queued' }));
    expect(await answer(world, superseded, world.agent(superseded.parent))).toMatchObject({
      code: 'QUESTION_NOT_PENDING',
      details: { status: 'superseded' },
    });
    const stale = await waitingChild(world);
    await world.move(stale.child, 'cancel');
    expect(await answer(world, stale, world.agent(stale.parent))).toMatchObject({
      code: 'QUESTION_NOT_PENDING',
      details: { status: 'stale' },
    });
    for (const one of [superseded, stale]) expect(await entriesOfKind(world, one.child.sessionId, 'answer')).toEqual([]);
  });

  test('by the old parent and by the new one once the child has another parent [R8]', async () => {
    const one = await waitingChild(world);
    const adopter = await world.task();
    await world.rows('UPDATE task SET parent_id = $2 WHERE id = $1', [one.child.id, adopter.id]);
    for (const parent of [one.parent, adopter]) {
      expect(await answer(world, one, world.agent(parent))).toMatchObject({ code: 'QUESTION_NOT_YOURS' });
    }
    await expectUntouched(one);
  });

  test('with an interrupt by anyone but the direct parent, never downgraded [R13]', async () => {
    const one = await waitingChild(world);
    const stranger = await world.task();
    expect(await answer(world, one, world.agent(stranger), { delivery_mode: 'interrupt' })).toMatchObject({ code: 'QUESTION_NOT_YOURS' });
    const ordinary = { prompt: 'Now!', delivery_mode: 'interrupt' } as const;
    for (const by of [world.agent(stranger), world.operator]) {
      expect(await world.services.messages.send(by, one.child.id, ordinary)).toMatchObject({ code: 'NOT_DIRECT_PARENT' });
    }
    await expectUntouched(one);
    expect(await world.entries(one.child.sessionId)).toHaveLength(1);
    expect(accepted(await answer(world, one, world.agent(one.parent), { delivery_mode: 'interrupt' })).status).toBe('sent');
  });
});

test('a blank question id makes an ordinary message [R9]', async () => {
  const one = await waitingChild(world);
  const sibling = await world.task({ parent: one.parent });
  const sent = accepted(await answer(world, one, world.agent(sibling), { reply_to_question_id: '  ' }));
  expect(sent).not.toHaveProperty('reply_to_question_id');
  expect(await world.entries(one.child.sessionId)).toMatchObject([{ state: 'delivered' }, { kind: 'prompt', state: 'queued' }]);
  await expectUntouched(one);
});
