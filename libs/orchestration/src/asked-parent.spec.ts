import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ASK, entriesOfKind } from '../../../test/support/waiting-child.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';

const CAP = 2;
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

function ask(child: TestTask) {
  return world.services.questions.askParent(world.agent(child), ASK, 'call-1');
}

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
      {
        reason: 'question_to_paused_parent',
        question_id: asked.question_id,
        child_task_id: paused.child.id,
        notification_id: expect.any(String) as unknown,
      },
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
    await world.endSession(parent, parent.sessionId);
    const asked = accepted(await ask(child));
    expect(await world.entries(newest)).toMatchObject([{ kind: 'question', question_id: asked.question_id }]);
  });
});

describe('a turn that asked', () => {
  test('may only read and ask again: its other calls are refused [A16] [K6b]', async () => {
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

  test('voids its completion signal and leaves the session waiting, ordinary entries queued [A17] [K6] [K6b]', async () => {
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
    const { parent, child } = await family();
    const claimed = await world.openTurn(child.sessionId);
    const actor = world.agent(child, { turnId: claimed.turn.id });
    accepted(await world.services.turns.stop(world.operator, claimed.turn.id));
    expect(await world.services.questions.askParent(actor, ASK, 'call-1')).toMatchObject({ code: 'TURN_STOPPING' });
    await world.endTurn(claimed);
    expect(await world.services.questions.askParent(actor, ASK, 'call-1')).toMatchObject({ code: 'TURN_NOT_ACTIVE' });
    expect(await entriesOfKind(world, parent.sessionId, 'question')).toEqual([]);
  });
});
