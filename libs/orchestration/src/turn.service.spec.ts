import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readQuestion } from '../../../test/support/waiting-child.js';
import { accepted, World } from '../../../test/support/world.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

describe('stopping a turn', () => {
  test('that runs leaves a mark, and its end holds what waits until someone resumes [K18] [T5]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    await world.prompt(task.sessionId);
    const stopped = accepted(await world.services.turns.stop(world.operator, claimed.turn.id));
    expect(stopped).toMatchObject({ id: claimed.turn.id, status: 'stopping', outcome: null });
    await world.endTurn(claimed);
    expect(accepted(await world.services.turns.get(world.operator, claimed.turn.id))).toMatchObject({
      status: 'finished',
      outcome: 'stopped',
    });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'idle', auto_run: false });
    expect(await world.tryClaim(task.sessionId)).toBeNull();
    expect((await world.entries(task.sessionId)).map(({ state }) => state)).toEqual(['delivered', 'queued']);
  });

  test('that is parked takes it down at once and cancels what it waited for [K18]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    const asked = accepted(await world.services.questions.askUser(world.agent(task), { questions: [{ prompt: 'May I?' }] }, 'call-1'));
    await world.parkTurn(claimed);
    expect((await world.sessionRow(task.sessionId)).state).toBe('parked');
    const stopped = accepted(await world.services.turns.stop(world.operator, claimed.turn.id));
    expect(stopped).toMatchObject({ status: 'finished', outcome: 'stopped', outcome_detail: 'stopped' });
    expect((await readQuestion(world, asked.id)).status).toBe('cancelled');
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'idle', runnable: false });
    expect((await world.taskRow(task.id)).state).toBe('review');
  });

  test('that nobody runs any more takes it down at once and fences the holder that is gone [K18] [K4]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    await world.rows(`UPDATE session SET lease_until = now() - interval '1 second' WHERE id = $1`, [task.sessionId]);
    expect(accepted(await world.services.turns.stop(world.operator, claimed.turn.id)).status).toBe('finished');
    expect(await world.endTurn(claimed)).toEqual({ then: 'lost' });
    expect(await world.tryClaim(task.sessionId)).toBeNull();
  });

  test('a second time, or one that is over, changes nothing, and a newer turn goes on [T4]', async () => {
    const task = await world.task();
    const first = await world.openTurn(task.sessionId);
    const stopped = accepted(await world.services.turns.stop(world.operator, first.turn.id));
    expect(await world.services.turns.stop(world.operator, first.turn.id)).toEqual(stopped);
    await world.endTurn(first);
    await world.rows('UPDATE session SET auto_run = true WHERE id = $1', [task.sessionId]);
    const second = await world.openTurn(task.sessionId);
    expect(accepted(await world.services.turns.stop(world.operator, first.turn.id))).toMatchObject({ status: 'finished' });
    expect(accepted(await world.services.turns.get(world.operator, second.turn.id))).toMatchObject({ status: 'running' });
    expect((await world.sessionRow(task.sessionId)).auto_run).toBe(true);
  });

  test('is for operators and the direct parent; of another workspace there is none', async () => {
    const grandparent = await world.task();
    const parent = await world.task({ parent: grandparent });
    const child = await world.task({ parent });
    const { turn } = await world.openTurn(child.sessionId);
    for (const task of [grandparent, child]) {
      expect(await world.services.turns.stop(world.agent(task), turn.id)).toMatchObject({ code: 'NOT_DIRECT_PARENT' });
    }
    const stranger = { ...world.agent(parent), workspaceId: parent.id };
    expect(await world.services.turns.stop(stranger, turn.id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(accepted(await world.services.turns.stop(world.agent(parent), turn.id)).status).toBe('stopping');
  });
});

describe('a completion signal', () => {
  test('of a turn that is stopped before it ends is void: Stop wins, and the task rests in review [T6, W4]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent });
    const claimed = await world.openTurn(child.sessionId);
    accepted(await world.services.turns.signalCompletion(world.agent(child), { summary: 'Done.' }));
    accepted(await world.services.turns.stop(world.operator, claimed.turn.id));
    await world.endTurn(claimed);
    expect(await world.taskRow(child.id)).toMatchObject({ state: 'review', result: null, ended_at: null });
    expect(await world.sessionRow(child.sessionId)).toMatchObject({ state: 'idle', auto_run: false });
    expect(await world.entries(parent.sessionId)).toEqual([]);
  });

  test('completes the task when its turn ends; the first one counts, a retry of its call is accepted again', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    const signal = (callId: string, summary: string) =>
      world.services.turns.signalCompletion(world.agent(task, { turnId: claimed.turn.id, callId }), { summary });
    expect(await signal('c1', 'All done.')).toEqual({ accepted: true });
    expect(await signal('c1', 'All done.')).toEqual({ accepted: true });
    expect(await signal('c2', 'More.')).toEqual({ accepted: false, reason: 'already_signaled' });
    await world.endTurn(claimed);
    expect(await world.taskRow(task.id)).toMatchObject({ state: 'completed', result: 'All done.' });
  });

  test('needs an open turn of a task session that is not being stopped', async () => {
    const task = await world.task();
    expect(await world.services.turns.signalCompletion(world.agent(task), { summary: 'Done.' })).toMatchObject({
      code: 'NO_SIGNAL_EXPECTED',
    });
    const chat = await world.session(task, { kind: 'quick_chat' });
    const fromChat = world.agent(task, { sessionId: chat });
    expect(await world.services.turns.signalCompletion(fromChat, { summary: 'Done.' })).toMatchObject({ code: 'WRONG_SESSION_KIND' });
    const { turn } = await world.openTurn(task.sessionId);
    const stale = world.agent(task, { turnId: task.id });
    expect(await world.services.turns.signalCompletion(stale, { summary: 'Done.' })).toMatchObject({ code: 'TURN_NOT_ACTIVE' });
    accepted(await world.services.turns.stop(world.operator, turn.id));
    expect(await world.services.turns.signalCompletion(world.agent(task), { summary: 'Done.' })).toMatchObject({ code: 'TURN_STOPPING' });
  });
});
