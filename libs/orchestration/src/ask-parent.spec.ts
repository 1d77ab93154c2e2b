import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AskQuestions } from '@echelon/contracts';
import { InjectedFailure } from '../../../test/support/failing-database.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';

const ASK = { questions: [{ prompt: 'Which database?', options: [{ label: 'Postgres' }, { label: 'SQLite', description: 'a file' }] }] };
const OTHER = { questions: [{ prompt: 'Which language?' }] };

let world: World;

beforeAll(async () => {
  world = await World.open();
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

  test('over a limit is refused by field, without the value [O32, O34]', async () => {
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
    await world.move(parent, 'complete');
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

  test('a hundred times at once makes one question and one prompt for the parent [A4] [K7]', async () => {
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
    await world.endSession(left.parent, left.parent.sessionId);
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
