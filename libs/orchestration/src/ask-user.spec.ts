import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { listExpiredUserQuestions } from '@echelon/persistence';
import { readQuestion, waitingChild } from '../../../test/support/waiting-child.js';
import { accepted, World } from '../../../test/support/world.js';
import { expireUserQuestion } from './ask-user.js';
import { SessionService } from './session.service.js';
import { TaskService } from './task.service.js';

const ASK = { questions: [{ prompt: 'Which region?' }, { id: 'size', prompt: 'How large?' }] };
const ANSWERS = { answers: { q1: 'Europe', size: 'Small' }, rejected: false };

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** A normal task whose turn asked its operator. */
async function asking() {
  const task = await world.task();
  const claimed = await world.openTurn(task.sessionId);
  const actor = world.agent(task, { turnId: claimed.turn.id });
  const asked = accepted(await world.services.questions.askUser(actor, ASK, 'call-1'));
  return { task, claimed, actor, asked };
}

/** What the events say of a question that ended without a person's answer. */
async function endsOf(questionId: string): Promise<readonly object[]> {
  const rows = await world.rows<{ payload: string }>(
    `SELECT payload FROM event WHERE type = 'question.ended' AND payload LIKE '%' || $1 || '%'`,
    [questionId],
  );
  return rows.map(({ payload }) => {
    const { question_id: _id, ...data } = JSON.parse(payload) as { question_id: string };
    return data;
  });
}

describe('a question to the operator', () => {
  test('parks the turn, holds no worker, and the answer resumes that turn [V4]', async () => {
    const { task, claimed, asked, actor } = await asking();
    expect(asked).toMatchObject({ task_id: task.id, session_id: task.sessionId, status: 'pending', answers: null });
    expect(asked.questions.map(({ id }) => id)).toEqual(['q1', 'size']);
    expect(await world.parkTurn(claimed)).toEqual({ then: 'released' });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'parked', lease_owner: null });
    expect(await world.tryClaim(task.sessionId)).toBeNull();

    const answered = accepted(await world.services.questions.answerUser(world.operator, asked.id, ANSWERS));
    expect(answered).toMatchObject({ claimed: true, status: 'answered', answers: { q1: 'Europe', size: 'Small' } });
    expect(world.announced).toContain(task.sessionId);
    const resumed = await world.claim(task.sessionId);
    expect(resumed.turn.id).toBe(claimed.turn.id);
    expect(accepted(await world.services.questions.askUser(actor, ASK, 'call-1'))).toMatchObject({ id: asked.id, status: 'answered' });
  });

  test('that was answered before its turn parked does not park it [V4]', async () => {
    const { claimed, asked } = await asking();
    accepted(await world.services.questions.answerUser(world.operator, asked.id, ANSWERS));
    expect(await world.parkTurn(claimed)).toMatchObject({ then: 'resume' });
  });

  test('can be rejected, with a reason [V4]', async () => {
    const { asked } = await asking();
    const rejected = await world.services.questions.answerUser(world.operator, asked.id, { rejected: true, reject_reason: 'Not now.' });
    expect(accepted(rejected)).toMatchObject({ status: 'rejected', answers: null, reject_reason: 'Not now.' });
  });

  test('can be taken back: the turn goes on without an answer, and nobody answers it any more [V4]', async () => {
    const { task, claimed, asked, actor } = await asking();
    await world.parkTurn(claimed);
    expect(accepted(await world.services.questions.cancelUser(world.operator, asked.id))).toMatchObject({
      status: 'cancelled',
      answers: null,
      claimed: true,
    });
    expect((await world.claim(task.sessionId)).turn.id).toBe(claimed.turn.id);
    expect(accepted(await world.services.questions.askUser(actor, ASK, 'call-1'))).toMatchObject({ id: asked.id, status: 'cancelled' });
    for (const late of [
      world.services.questions.answerUser(world.operator, asked.id, ANSWERS),
      world.services.questions.cancelUser(world.operator, asked.id),
    ])
      expect(accepted(await late)).toMatchObject({ status: 'cancelled', claimed: false });
    expect(await endsOf(asked.id)).toEqual([{ kind: 'user', status: 'cancelled' }]);
    expect(await world.rows('SELECT actor, action FROM audit WHERE subject = $1', [asked.id])).toEqual([
      { actor: `operator:${world.operator.operatorId}`, action: 'question.cancelled' },
    ]);
  });

  test('expires after the time that its profile sets, once, and its turn goes on [V4]', async () => {
    const { task, claimed, asked } = await asking();
    await world.parkTurn(claimed);
    const expired = async () => (await listExpiredUserQuestions(world.database, 100)).map(({ id }) => id);
    await world.rows(`UPDATE message SET created_at = created_at - interval '1 hour' WHERE id = $1`, [asked.id]);
    expect(await expired()).not.toContain(asked.id);
    await world.rows('UPDATE agent_profile SET user_question_timeout_seconds = 1800');
    expect(await expired()).toContain(asked.id);
    const raced = await Promise.all([1, 2].map(() => expireUserQuestion(world.transactions, asked.id)));
    await world.rows('UPDATE agent_profile SET user_question_timeout_seconds = NULL');
    expect(raced.toSorted()).toEqual([false, true]);
    expect((await world.claim(task.sessionId)).turn.id).toBe(claimed.turn.id);
    expect(accepted(await world.services.questions.answerUser(world.operator, asked.id, ANSWERS))).toMatchObject({
      status: 'expired',
      claimed: false,
    });
    expect(await endsOf(asked.id)).toEqual([{ kind: 'user', status: 'expired' }]);
  });

  test('is decided by one of two operators, and the other gets that decision [V4]', async () => {
    const { asked } = await asking();
    const [ada, bob] = await Promise.all([
      world.services.questions.answerUser(world.operator, asked.id, ANSWERS),
      world.services.questions.answerUser({ ...world.operator, name: 'Bob' }, asked.id, { rejected: true }),
    ]).then((outcomes) => outcomes.map(accepted));
    expect([ada!.claimed, bob!.claimed].toSorted()).toEqual([false, true]);
    const { claimed: _ada, ...one } = ada!;
    const { claimed: _bob, ...two } = bob!;
    expect(one).toEqual(two);
    expect(await world.rows('SELECT actor FROM audit WHERE subject = $1', [asked.id])).toHaveLength(1);
  });

  test('asked again is the same one: under its key, or with the same words while it waits [V4]', async () => {
    const { actor, asked } = await asking();
    expect(accepted(await world.services.questions.askUser(actor, ASK, 'call-1')).id).toBe(asked.id);
    expect(accepted(await world.services.questions.askUser(actor, ASK, 'call-2')).id).toBe(asked.id);
    const other = { questions: [{ prompt: 'Something else?' }] };
    expect(await world.services.questions.askUser(actor, other, 'call-1')).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    accepted(await world.services.questions.answerUser(world.operator, asked.id, ANSWERS));
    expect(accepted(await world.services.questions.askUser(actor, ASK, 'call-3')).id).not.toBe(asked.id);
  });

  test('asked without an open turn shows at task and session as clarification until it is decided [V1]', async () => {
    const task = await world.task();
    const tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
    const sessions = new SessionService(world.database, world.transactions);
    const shown = async () => [
      accepted(await tasks.get(world.operator, task.id)).pending_action,
      accepted(await sessions.get(world.operator, task.sessionId)).pending_action,
    ];
    const asked = accepted(await world.services.questions.askUser(world.agent(task), ASK, 'call-1'));
    expect(await shown()).toEqual(['clarification', 'clarification']);
    accepted(await world.services.questions.answerUser(world.operator, asked.id, ANSWERS));
    expect(await shown()).toEqual([null, null]);
  });

  test('wants one answer for each of its questions', async () => {
    const { asked } = await asking();
    const wrong = [{ answers: { q1: 'Europe' } }, { answers: { q1: 'a', size: 'b', more: 'c' } }, {}, { answers: { q1: 'a', other: 'b' } }];
    for (const input of wrong) {
      expect(await world.services.questions.answerUser(world.operator, asked.id, { rejected: false, ...input })).toMatchObject({
        code: 'INVALID_INPUT',
        details: { field: 'answers' },
      });
    }
    const both = await world.services.questions.answerUser(world.operator, asked.id, { ...ANSWERS, rejected: true });
    expect(both).toMatchObject({ code: 'INVALID_INPUT' });
    expect((await readQuestion(world, asked.id)).status).toBe('pending');
  });

  test('is not for autopilot tasks, nor for sessions without the tool', async () => {
    const parent = await world.task();
    const chat = world.agent(parent, { sessionId: await world.session(parent, { kind: 'quick_chat' }) });
    for (const actor of [
      world.agent(await world.task({ parent, autopilot: true })),
      world.agent(await world.task({ autopilot: true })),
      chat,
    ]) {
      expect(await world.services.questions.askUser(actor, ASK, 'call-1')).toMatchObject({ code: 'TOOL_NOT_OFFERED' });
    }
  });
});

test('an operator can read a parent question and not answer it [V2] [V3]', async () => {
  const one = await waitingChild(world);
  expect(await world.services.questions.answerUser(world.operator, one.questionId, ANSWERS)).toMatchObject({ code: 'QUESTION_NOT_YOURS' });
  expect(await readQuestion(world, one.questionId)).toMatchObject({ status: 'pending', questions: [{ prompt: 'Which database?' }] });
  const [message] = await world.rows('SELECT type, role, hidden FROM message WHERE id = $1', [one.questionId]);
  expect(message).toEqual({ type: 'parent_question', role: 'assistant', hidden: true });
});

test('a list has one kind or both, from new to old, page by page, and an agent’s only what involves its task', async () => {
  const { parent, child, questionId: first } = await waitingChild(world);
  const { questionId: second, child: sibling } = await waitingChild(world, parent);
  const { asked } = await asking();
  const list = (by: Parameters<typeof world.services.questions.list>[0], more: object = {}) =>
    world.services.questions.list(by, { kind: 'parent', limit: 50, ...more }).then((page) => accepted(page).items.map(({ id }) => id));
  expect(await list(world.agent(parent))).toEqual([second, first]);
  expect(await list(world.agent(child))).toEqual([first]);
  expect(await list(world.operator, { task_id: sibling.id, status: 'pending' })).toEqual([second]);
  expect(await list(world.operator, { task_id: sibling.id, status: 'answered' })).toEqual([]);
  expect(await list(world.operator, { kind: 'user', task_id: asked.task_id })).toEqual([asked.id]);
  const newest = accepted(await world.services.questions.list(world.operator, { limit: 2 }));
  const older = accepted(await world.services.questions.list(world.operator, { limit: 1, cursor: newest.next_cursor! }));
  expect([...newest.items, ...older.items].map(({ id }) => id)).toEqual([asked.id, second, first]);

  const page = accepted(await world.services.questions.list(world.agent(parent), { kind: 'parent', limit: 1 }));
  expect(page.items.map(({ id }) => id)).toEqual([second]);
  expect(await list(world.agent(parent), { limit: 1, cursor: page.next_cursor })).toEqual([first]);
  expect(await world.services.questions.list(world.operator, { kind: 'parent', limit: 1, cursor: 'x' })).toMatchObject({
    code: 'INVALID_INPUT',
  });
});
