import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AskQuestions } from '@echelon/contracts';
import { accepted, InjectedFailure, type TestTask, World } from '../../../test/support/world.js';
import { endSession, lockFamilies, moveTask } from './ending.js';

const CAP = 2;
const ASK = { questions: [{ prompt: 'Which database?', options: [{ label: 'Postgres' }, { label: 'SQLite', description: 'a file' }] }] };
const OTHER = { questions: [{ prompt: 'Which language?' }] };

let world: World;

beforeAll(async () => {
  world = await World.open({ queue_entries: CAP });
});
afterAll(() => world.close());

async function family(): Promise<{ readonly parent: TestTask; readonly child: TestTask }> {
  const parent = await world.task({ title: 'The parent' });
  return { parent, child: await world.task({ parent, autopilot: true, title: 'The child' }) };
}

function ask(child: TestTask, key = 'call-1', input: AskQuestions = ASK) {
  return world.services.questions.askParent(world.agent(child), input, key);
}

async function questionsOf(sessionId: string): Promise<readonly { readonly id: string; readonly status: string }[]> {
  return world.rows(`SELECT id, metadata->>'status' AS status FROM message WHERE session_id = $1 AND type = 'parent_question'`, [
    sessionId,
  ]);
}

/** Everything that an ask writes, counted. */
async function traces(): Promise<unknown> {
  const [row] = await world.rows(
    `SELECT (SELECT count(*) FROM message) AS messages, (SELECT count(*) FROM queue_entry) AS entries, (SELECT count(*) FROM outbox) AS wakes,
       (SELECT count(*) FROM event) AS events, (SELECT count(*) FROM turn WHERE ended_by_question_id IS NOT NULL) AS ended,
       (SELECT count(*) FROM session WHERE runnable) AS runnable`,
  );
  return row;
}

async function endSessionOf(task: TestTask, sessionId: string): Promise<void> {
  await world.run(async (unit) => {
    const { sessions } = await lockFamilies(unit, [task.id]);
    const session = sessions.find(({ id }) => id === sessionId);
    if (session) await endSession(unit, session, 'cancelled', 'session_ended');
  });
}

describe('an ask', () => {
  test('stores one pending question and one attributed entry for the parent, and returns at once [A1]', async () => {
    const { parent, child } = await family();
    const { turn } = await world.openTurn(child.sessionId);
    const actor = world.agent(child, { turnId: turn.id });
    const asked = accepted(await world.services.questions.askParent(actor, { ...ASK, context: 'The schema depends on it.' }, 'call-1'));
    expect(asked).toEqual({ question_id: expect.any(String), parent_task_id: parent.id, status: 'waiting_for_parent' });

    const entries = await world.entries(parent.sessionId);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ kind: 'question', state: 'queued', rank: 2, question_id: asked.question_id });
    expect(entries[0]).toMatchObject({ sender_kind: 'task', sender_task_id: child.id, sender_session_id: child.sessionId });
    const call = { task_id: child.id, session_id: child.sessionId, reply_to_question_id: asked.question_id, prompt: '<your answer>' };
    const told = ['"The child"', 'Which database?', 'Postgres', 'a file', 'The schema depends on it.', JSON.stringify(call)];
    for (const words of told) expect(entries[0]?.text).toContain(words);

    expect(world.announced).toContain(parent.sessionId);
    const stored = accepted(await world.services.questions.get(world.operator, asked.question_id));
    expect(stored).toMatchObject({ status: 'pending', turn_id: turn.id, caused_by_question_id: null, ended_at: null });
    expect(stored.questions).toEqual([{ id: 'q1', ...ASK.questions[0] }]);
  });

  test('gives every question an id and refuses two of the same', async () => {
    const { child } = await family();
    const questions = [{ prompt: 'a' }, { id: 'q3', prompt: 'b' }, { prompt: 'c' }, { id: 'mine', prompt: 'd' }];
    const asked = accepted(await ask(child, 'call-1', { questions }));
    const stored = accepted(await world.services.questions.get(world.operator, asked.question_id));
    expect(stored.questions.map(({ id }) => id)).toEqual(['q1', 'q3', 'q4', 'mine']);
    const twice = {
      questions: [
        { id: 'x', prompt: 'a' },
        { id: 'x', prompt: 'b' },
      ],
    };
    expect(await ask((await family()).child, 'call-1', twice)).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('over a limit is refused by field, without the value', async () => {
    const before = await traces();
    const { child } = await family();
    expect(await ask(child, 'call-1', { questions: [{ prompt: 'é'.repeat(4_097) }] })).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'questions.0.prompt', max: 8_192, actual: 8_194 },
    });
    const options = [{ label: 'x' }, { label: 'y', description: 'z'.repeat(1_025) }];
    expect(await ask(child, 'call-1', { questions: [{ prompt: 'p', options }] })).toMatchObject({
      details: { field: 'questions.0.options.1.description', max: 1_024, actual: 1_025 },
    });
    expect(await traces()).toEqual(before);
  });

  test('cannot name a parent, a child or a session [A6]', () => {
    for (const field of ['parent_task_id', 'parent_id', 'task_id', 'session_id', 'child_task_id']) {
      expect(AskQuestions.safeParse({ ...ASK, [field]: 'x' }).success).toBe(false);
    }
  });
});

describe('a repeated ask', () => {
  test('under the same key is the same question, whatever its state now [A2]', async () => {
    const { parent, child } = await family();
    const first = accepted(await ask(child));
    expect(await ask(child)).toEqual(first);
    accepted(await world.services.messages.send(world.operator, child.id, { prompt: 'Never mind.', delivery_mode: 'queued' }));
    expect(await ask(child)).toEqual(first);
    expect(await questionsOf(child.sessionId)).toEqual([{ id: first.question_id, status: 'superseded' }]);
    expect(await world.entries(parent.sessionId)).toHaveLength(1);
  });

  test('under the same key is checked before the end of the turn and before the parent [A2]', async () => {
    const { parent, child } = await family();
    const { turn } = await world.openTurn(child.sessionId);
    const actor = world.agent(child, { turnId: turn.id });
    const first = accepted(await world.services.questions.askParent(actor, ASK, 'call-1'));
    await world.run(async (unit) => moveTask(unit, (await lockFamilies(unit, [parent.id])).tasks.get(parent.id)!, 'complete'));
    expect(await world.services.questions.askParent(actor, ASK, 'call-1')).toEqual(first);
  });

  test('under the same key with other questions is an error', async () => {
    const { child } = await family();
    accepted(await ask(child));
    expect(await ask(child, 'call-1', OTHER)).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  });

  test('with another key while one is pending gives the pending one back [A3]', async () => {
    const { parent, child } = await family();
    const first = accepted(await ask(child));
    expect(await ask(child, 'call-2', OTHER)).toEqual(first);
    expect(await questionsOf(child.sessionId)).toHaveLength(1);
    expect(await world.entries(parent.sessionId)).toHaveLength(1);
  });

  test('is refused by the database itself where code does not stop it [A3]', async () => {
    const { child } = await family();
    accepted(await ask(child));
    const copy = world.rows(
      `INSERT INTO message (id, workspace_id, session_id, sequence, type, role, content, metadata)
       SELECT gen_random_uuid(), workspace_id, session_id, 999, type, role, content, metadata || '{"idempotency_key": "other"}'
       FROM message WHERE session_id = $1 AND type = 'parent_question'`,
      [child.sessionId],
    );
    await expect(copy).rejects.toMatchObject({ constraint: 'message_one_pending_parent_question' });
  });

  test('a hundred times at once makes one question and one prompt for the parent [A4]', async () => {
    const { parent, child } = await family();
    const asked = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(child, `call-${index}`, index % 2 ? ASK : OTHER)));
    expect(new Set(asked.map((outcome) => accepted(outcome).question_id)).size).toBe(1);
    expect(await questionsOf(child.sessionId)).toHaveLength(1);
    expect(await world.entries(parent.sessionId)).toHaveLength(1);
  });
});

describe('an ask that is refused stores nothing', () => {
  async function refused(outcome: Promise<object>): Promise<unknown> {
    const before = await traces();
    const refusal = await outcome;
    expect(await traces()).toEqual(before);
    return refusal;
  }

  test('without a parent, from a normal task, from another kind of session, from a foreign session [A5]', async () => {
    const root = await world.task({ autopilot: true });
    expect(await refused(ask(root))).toMatchObject({ code: 'NO_PARENT' });

    const { parent, child } = await family();
    const normal = await world.task({ parent });
    expect(await refused(ask(normal))).toMatchObject({ code: 'NOT_AUTOPILOT' });

    const chat = await world.session(child, { kind: 'quick_chat' });
    const fromChat = world.agent(child, { sessionId: chat });
    expect(await refused(world.services.questions.askParent(fromChat, ASK, 'k'))).toMatchObject({ code: 'WRONG_SESSION_KIND' });

    const foreign = world.agent(child, { sessionId: parent.sessionId });
    expect(await refused(world.services.questions.askParent(foreign, ASK, 'k'))).toMatchObject({ code: 'NOT_FOUND' });
    const elsewhere = { ...world.agent(child), workspaceId: child.id };
    expect(await refused(world.services.questions.askParent(elsewhere, ASK, 'k'))).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('when the parent is archived, has ended, or has no session that can answer [A12]', async () => {
    const archived = await family();
    await world.rows('UPDATE task SET archived_at = now() WHERE id = $1', [archived.parent.id]);
    expect(await refused(ask(archived.child))).toMatchObject({ code: 'PARENT_UNAVAILABLE' });

    const ended = await family();
    await world.rows(`UPDATE task SET state = 'failed' WHERE id = $1`, [ended.parent.id]);
    expect(await refused(ask(ended.child))).toMatchObject({ code: 'PARENT_UNAVAILABLE' });

    const left = await family();
    await endSessionOf(left.parent, left.parent.sessionId);
    await world.session(left.parent, { runtime: 'passthrough' });
    expect(await refused(ask(left.child))).toMatchObject({ code: 'PARENT_UNAVAILABLE' });
    const { turn } = await world.openTurn(left.child.sessionId);
    expect(turn.ended_by_question_id).toBeNull();
  });

  test('when any of its statements fails [A13]', async () => {
    const { parent, child } = await family();
    await world.openTurn(child.sessionId);
    const before = await traces();
    let statement = 1;
    for (; ; statement++) {
      const outcome = await world
        .failingAt(statement)
        .questions.askParent(world.agent(child), ASK, 'call-1')
        .catch((error: unknown) => error);
      if (!(outcome instanceof InjectedFailure)) break;
      expect(await traces()).toEqual(before);
    }
    expect(statement).toBeGreaterThan(10);
    expect(await questionsOf(child.sessionId)).toHaveLength(1);
    expect(await world.entries(parent.sessionId)).toHaveLength(1);
  });
});

describe('the parent', () => {
  test('that runs is not interrupted: the question waits behind what waits already [A7]', async () => {
    const { parent, child } = await family();
    const sibling = await world.task({ parent, autopilot: true });
    const running = await world.openTurn(parent.sessionId);
    accepted(await ask(sibling));
    accepted(await ask(child));
    const [turn] = await world.rows('SELECT status, stop_requested_at FROM turn WHERE id = $1', [running.turn.id]);
    expect(turn).toEqual({ status: 'running', stop_requested_at: null });
    await world.endTurn(running);
    const next = await world.claim(parent.sessionId);
    const [first, ...rest] = (await world.entries(parent.sessionId)).filter(({ kind }) => kind === 'question');
    expect(first).toMatchObject({ sender_task_id: sibling.id, state: 'delivered', turn_id: next.turn.id });
    expect(rest).toMatchObject([{ sender_task_id: child.id, state: 'queued' }]);
  });

  test('that is idle starts a turn; on a paused queue it starts on resume, and operators are told at once [A8]', async () => {
    const { parent, child } = await family();
    await world.endTurn(await world.openTurn(parent.sessionId));
    accepted(await ask(child));
    const answering = await world.claim(parent.sessionId);
    expect(answering.turn.number).toBe(2);

    const paused = await family();
    await world.endTurn(await world.openTurn(paused.parent.sessionId));
    await world.rows('UPDATE session SET auto_run = false WHERE id = $1', [paused.parent.sessionId]);
    const asked = accepted(await ask(paused.child));
    expect(await world.tryClaim(paused.parent.sessionId)).toBeNull();
    const told = await world.rows<{ payload: string }>(`SELECT payload FROM event WHERE type = 'operator.notified' AND task_id = $1`, [
      paused.parent.id,
    ]);
    expect(told.map(({ payload }) => JSON.parse(payload) as unknown)).toEqual([
      { reason: 'question_to_paused_parent', question_id: asked.question_id, child_task_id: paused.child.id },
    ]);
    await world.rows('UPDATE session SET auto_run = true WHERE id = $1', [paused.parent.sessionId]);
    expect((await world.claim(paused.parent.sessionId)).turn.number).toBe(2);
  });

  test('that never started starts with the question as its prompt [A9]', async () => {
    const { parent, child } = await family();
    const asked = accepted(await ask(child));
    expect((await world.sessionRow(parent.sessionId)).state).toBe('created');
    const first = await world.claim(parent.sessionId);
    expect(first.turn.number).toBe(1);
    const [entry] = await world.entries(parent.sessionId);
    expect(entry).toMatchObject({ question_id: asked.question_id, state: 'delivered', turn_id: first.turn.id });
  });

  test('with a full queue takes the question, and the child with a full queue the answer [A10]', async () => {
    const { parent, child } = await family();
    for (const { sessionId } of [parent, child]) for (let place = 0; place < CAP; place++) await world.prompt(sessionId);
    const asked = accepted(await ask(child));
    const answer = { prompt: 'Postgres.', delivery_mode: 'queued', reply_to_question_id: asked.question_id } as const;
    accepted(await world.services.messages.send(world.agent(parent), child.id, answer));
    expect((await world.entries(child.sessionId)).map(({ kind }) => kind)).toEqual(['prompt', 'prompt', 'answer']);
  });

  test('whose primary session has ended receives it in its newest live one [A11]', async () => {
    const { parent, child } = await family();
    await world.session(parent);
    const newest = await world.session(parent);
    await world.session(parent, { kind: 'quick_chat' });
    await endSessionOf(parent, parent.sessionId);
    const asked = accepted(await ask(child));
    expect(await world.entries(newest)).toMatchObject([{ kind: 'question', question_id: asked.question_id }]);
  });
});

describe('a turn that asked', () => {
  test('may only read and ask again: its other calls are refused [A16]', async () => {
    const { parent, child } = await family();
    const { turn } = await world.openTurn(child.sessionId);
    const actor = world.agent(child, { turnId: turn.id });
    const asked = accepted(await world.services.questions.askParent(actor, ASK, 'call-1'));
    const message = { prompt: 'One more thing.', delivery_mode: 'queued' } as const;
    expect(await world.services.messages.send(actor, parent.id, message)).toMatchObject({ code: 'TURN_ENDED_BY_QUESTION' });
    expect(await world.services.turns.signalCompletion(actor, { summary: 'Done.' })).toMatchObject({ code: 'TURN_ENDED_BY_QUESTION' });
    expect(await world.services.questions.askParent(actor, OTHER, 'call-2')).toEqual(asked);

    const answer = { prompt: 'Postgres.', delivery_mode: 'queued', reply_to_question_id: asked.question_id } as const;
    accepted(await world.services.messages.send(world.agent(parent), child.id, answer));
    expect(await world.services.questions.askParent(actor, OTHER, 'call-3')).toMatchObject({ code: 'TURN_ENDED_BY_QUESTION' });
    expect(await world.services.questions.askParent(actor, ASK, 'call-1')).toEqual(asked);
  });

  test('voids its completion signal and leaves the session waiting, ordinary entries queued [A17]', async () => {
    const { child } = await family();
    const claimed = await world.openTurn(child.sessionId);
    const actor = world.agent(child, { turnId: claimed.turn.id });
    expect(await world.services.turns.signalCompletion(actor, { summary: 'Done.' })).toEqual({ accepted: true });
    accepted(await world.services.questions.askParent(actor, ASK, 'call-1'));
    await world.prompt(child.sessionId, 'Something ordinary.');
    await world.endTurn(claimed);
    expect(await world.sessionRow(child.sessionId)).toMatchObject({ state: 'waiting_for_input', runnable: false, lease_owner: null });
    expect(await world.taskRow(child.id)).toMatchObject({ state: 'waiting', ended_at: null });
    expect(await world.tryClaim(child.sessionId)).toBeNull();
    expect((await world.entries(child.sessionId)).map(({ state }) => state)).toEqual(['delivered', 'queued']);
  });

  test('that was stopped, or is over, asks nothing', async () => {
    const { child } = await family();
    const claimed = await world.openTurn(child.sessionId);
    const actor = world.agent(child, { turnId: claimed.turn.id });
    accepted(await world.services.turns.stop(world.operator, claimed.turn.id));
    expect(await world.services.questions.askParent(actor, ASK, 'call-1')).toMatchObject({ code: 'TURN_STOPPING' });
    await world.endTurn(claimed);
    expect(await world.services.questions.askParent(actor, ASK, 'call-1')).toMatchObject({ code: 'TURN_NOT_ACTIVE' });
    expect(await questionsOf(child.sessionId)).toEqual([]);
  });
});
