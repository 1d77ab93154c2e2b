import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entriesOfKind, readQuestion, say, waitingChild } from '../../../test/support/waiting-child.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { recoverLease } from './lease-recovery.js';

const CAP = 3;

let world: World;

beforeAll(async () => {
  world = await World.open({ queue_entries: CAP });
});
afterAll(() => world.close());

async function turnRow(id: string) {
  const [turn] = await world.rows<{ status: string; outcome: string | null; stop_requested_at: Date | null }>(
    'SELECT status, outcome, stop_requested_at FROM turn WHERE id = $1',
    [id],
  );
  return turn!;
}

/** A child whose turn is parked on a question to the operator. */
async function parkedChild() {
  const parent = await world.task();
  const child = await world.task({ parent });
  const claimed = await world.openTurn(child.sessionId);
  const asked = await world.services.questions.askUser(world.agent(child), { questions: [{ prompt: 'May I?' }] }, 'call-1');
  await world.parkTurn(claimed);
  return { parent, child, turnId: claimed.turn.id, questionId: accepted(asked).id };
}

describe('a message to', () => {
  test('a session that never started starts it [M5]', async () => {
    const task = await world.task();
    expect(accepted(await say(world, world.operator, task.id))).toMatchObject({ session_id: task.sessionId, status: 'started' });
    expect((await world.claim(task.sessionId)).turn.number).toBe(1);
  });

  test('an idle session opens a turn [M2]', async () => {
    const task = await world.task();
    await world.endTurn(await world.openTurn(task.sessionId));
    expect(accepted(await say(world, world.operator, task.id)).status).toBe('sent');
    expect(world.announced).toContain(task.sessionId);
    expect((await world.claim(task.sessionId)).turn.number).toBe(2);
  });

  test('a running session waits in its queue and opens the next turn [M1]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    const sent = accepted(await say(world, world.operator, task.id));
    expect(sent.status).toBe('queued');
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'running', stop_requested_at: null });
    await world.endTurn(claimed);
    const { turn } = await world.claim(task.sessionId);
    expect((await world.entries(task.sessionId)).find(({ id }) => id === sent.delivery_id)).toMatchObject({ turn_id: turn.id });
  });

  test('a parked session waits in its queue, and the wait stays [M4]', async () => {
    const { child, questionId } = await parkedChild();
    expect(accepted(await say(world, world.operator, child.id)).status).toBe('queued');
    expect(await world.tryClaim(child.sessionId)).toBeNull();
    expect((await readQuestion(world, questionId)).status).toBe('pending');
  });

  test('a paused or blocked session is kept until it may run', async () => {
    const paused = await world.task();
    await world.rows('UPDATE session SET auto_run = false WHERE id = $1', [paused.sessionId]);
    const blocked = await world.task({ state: 'blocked' });
    for (const task of [paused, blocked]) {
      expect(accepted(await say(world, world.operator, task.id)).status).toBe('queued');
      expect(await world.tryClaim(task.sessionId)).toBeNull();
      expect(await world.entries(task.sessionId)).toMatchObject([{ state: 'queued' }]);
    }
  });

  test('an ended session is refused, and so is one to an archived or unknown task [M6]', async () => {
    const ended = await world.task();
    await world.endSession(ended, ended.sessionId);
    expect(await say(world, world.operator, ended.id)).toMatchObject({ code: 'SESSION_TERMINAL' });
    expect(await say(world, world.operator, ended.id, { session_id: ended.sessionId })).toMatchObject({ code: 'SESSION_TERMINAL' });
    const archived = await world.task();
    await world.rows('UPDATE task SET archived_at = now() WHERE id = $1', [archived.id]);
    expect(await say(world, world.operator, archived.id)).toMatchObject({ code: 'TASK_ARCHIVED' });
    for (const id of [archived.sessionId, 'nonsense']) expect(await say(world, world.operator, id)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('anything, from a session that has ended, is refused', async () => {
    const [sender, task] = [await world.task(), await world.task()];
    await world.endSession(sender, sender.sessionId);
    expect(await say(world, world.agent(sender), task.id)).toMatchObject({ code: 'SESSION_TERMINAL' });
    expect(await world.entries(task.sessionId)).toEqual([]);
  });

  test('a task of another workspace finds nothing', async () => {
    const task = await world.task();
    const stranger = { ...world.agent(await world.task()), workspaceId: task.id };
    expect(await say(world, stranger, task.id)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the target', () => {
  test('is the named session, never another; else the live primary; else the newest live one [M7]', async () => {
    const task = await world.task();
    const [older, newest] = [await world.session(task), await world.session(task)];
    expect(accepted(await say(world, world.operator, task.id)).session_id).toBe(task.sessionId);
    expect(accepted(await say(world, world.operator, task.id, { session_id: older })).session_id).toBe(older);
    await world.endSession(task, task.sessionId);
    expect(accepted(await say(world, world.operator, task.id)).session_id).toBe(newest);
    expect(await say(world, world.operator, task.id, { session_id: task.sessionId })).toMatchObject({ code: 'SESSION_TERMINAL' });
    const other = await world.task();
    expect(await say(world, world.operator, task.id, { session_id: other.sessionId })).toMatchObject({ code: 'SESSION_NOT_OF_TASK' });
  });

  test('is never the sender’s own session; another one of its task it may be', async () => {
    const task = await world.task();
    expect(await say(world, world.agent(task), task.id)).toMatchObject({ code: 'SELF_MESSAGE' });
    const other = await world.session(task);
    expect(accepted(await say(world, world.agent(task), task.id, { session_id: other })).session_id).toBe(other);
  });
});

describe('an interrupt', () => {
  test('is refused to everyone but the direct parent, and stores nothing [R13]', async () => {
    const grandparent = await world.task();
    const parent = await world.task({ parent: grandparent });
    const child = await world.task({ parent });
    const sibling = await world.task({ parent });
    for (const by of [world.operator, world.agent(sibling), world.agent(grandparent)]) {
      expect(await say(world, by, child.id, { delivery_mode: 'interrupt' })).toMatchObject({ code: 'NOT_DIRECT_PARENT' });
    }
    expect(await world.entries(child.sessionId)).toEqual([]);
  });

  test('of a running turn marks it to stop, and opens the next turn before what waits [K18, M1]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent });
    const claimed = await world.openTurn(child.sessionId);
    await world.prompt(child.sessionId, 'Queued before.');
    const sent = accepted(await say(world, world.agent(parent), child.id, { delivery_mode: 'interrupt' }));
    expect(sent.status).toBe('sent');
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'stopping', stop_requested_at: expect.any(Date) });
    await world.endTurn(claimed);
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'finished', outcome: 'stopped' });
    const { turn } = await world.claim(child.sessionId);
    expect((await world.entries(child.sessionId)).find(({ id }) => id === sent.delivery_id)).toMatchObject({ rank: 1, turn_id: turn.id });
  });

  test('of a parked turn takes it down at once, and a late decision finds it cancelled [K18, M4]', async () => {
    const { parent, child, turnId, questionId } = await parkedChild();
    const sent = accepted(await say(world, world.agent(parent), child.id, { delivery_mode: 'interrupt' }));
    expect(sent.status).toBe('sent');
    expect(await turnRow(turnId)).toMatchObject({ status: 'finished', outcome: 'stopped' });
    const late = accepted(
      await world.services.questions.answerUser(world.operator, questionId, { answers: { q1: 'Yes.' }, rejected: false }),
    );
    expect(late).toMatchObject({ claimed: false, status: 'cancelled' });
    const { turn } = await world.claim(child.sessionId);
    expect((await world.entries(child.sessionId)).find(({ id }) => id === sent.delivery_id)).toMatchObject({ turn_id: turn.id });
  });

  test('of a turn whose holder died takes it down at once: it does not run on before the message [K18, M1]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent });
    const { turn: left } = await world.openTurn(child.sessionId);
    await world.rows(`UPDATE session SET lease_until = now() - interval '1 second' WHERE id = $1`, [child.sessionId]);
    expect(await recoverLease(world.transactions, child.sessionId)).toBe(true);
    const sent = accepted(await say(world, world.agent(parent), child.id, { delivery_mode: 'interrupt' }));
    expect(sent.status).toBe('sent');
    expect(await turnRow(left.id)).toMatchObject({ status: 'finished', outcome: 'stopped' });
    const { turn } = await world.claim(child.sessionId);
    expect((await world.entries(child.sessionId)).find(({ id }) => id === sent.delivery_id)).toMatchObject({ rank: 1, turn_id: turn.id });
  });

  test('of a waiting child supersedes its question [S1, M3]', async () => {
    const one = await waitingChild(world);
    expect(accepted(await say(world, world.agent(one.parent), one.child.id, { delivery_mode: 'interrupt' })).status).toBe('sent');
    expect((await readQuestion(world, one.questionId)).status).toBe('superseded');
    expect((await world.claim(one.child.sessionId)).turn.number).toBe(2);
  });
});

describe('a queue', () => {
  async function fill(task: TestTask): Promise<void> {
    await world.openTurn(task.sessionId);
    for (let place = 0; place < CAP; place++) await world.prompt(task.sessionId);
  }

  test('that is full refuses ordinary messages without telling what waits, and takes the rest [A10, M9, O38]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent });
    await fill(child);
    expect(await say(world, world.operator, child.id)).toEqual({
      refused: true,
      code: 'QUEUE_FULL',
      details: { size: CAP, max: CAP, retry_after: 'next_turn' },
    });
    accepted(await say(world, world.agent(parent), child.id, { delivery_mode: 'interrupt' }));
  });

  test('takes no more than its cap from senders at once', async () => {
    const task = await world.task();
    await world.openTurn(task.sessionId);
    const senders = await Promise.all(Array.from({ length: 4 }, () => world.task()));
    const sent = await Promise.all([...senders, ...senders].map((sender) => say(world, world.agent(sender), task.id)));
    expect(sent.filter((outcome) => 'refused' in outcome)).toHaveLength(2 * senders.length - CAP);
  });

  test('without a cap takes everything [M9]', async () => {
    const open = await World.open({ queue_entries: 0 });
    const task = await open.task();
    for (let place = 0; place < 12; place++) accepted(await say(open, open.operator, task.id));
    expect(await open.entries(task.sessionId)).toHaveLength(12);
    await open.close();
  });
});

describe('an idempotency key', () => {
  test('gives the first delivery for the same body and refuses another one [K16, M10]', async () => {
    const [sender, task, other] = [await world.task(), await world.task(), await world.task()];
    const by = world.agent(sender);
    const first = accepted(await say(world, by, task.id, { idempotency_key: 'k' }));
    await world.claim(task.sessionId);
    const again = accepted(await say(world, by, task.id, { idempotency_key: 'k' }));
    expect(again).toEqual({ ...first, status: 'sent', deduplicated: true });
    expect(await say(world, by, task.id, { idempotency_key: 'k', prompt: 'Else.' })).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(await say(world, by, other.id, { idempotency_key: 'k' })).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(await world.entries(task.sessionId)).toHaveLength(1);
  });

  test('is answered before anything else is checked [K16]', async () => {
    const [sender, task] = [await world.task(), await world.task()];
    const first = accepted(await say(world, world.agent(sender), task.id, { idempotency_key: 'k' }));
    await world.move(task, 'complete');
    expect(accepted(await say(world, world.agent(sender), task.id, { idempotency_key: 'k' })).delivery_id).toBe(first.delivery_id);
  });

  test('belongs to the sender’s session; without one nothing is deduplicated [K16]', async () => {
    const [sender, task] = [await world.task(), await world.task()];
    const second = await world.session(sender);
    accepted(await say(world, world.agent(sender), task.id, { idempotency_key: 'k' }));
    const other = accepted(await say(world, world.agent(sender, { sessionId: second }), task.id, { idempotency_key: 'k' }));
    expect(other).not.toHaveProperty('deduplicated');
    accepted(await say(world, world.agent(sender), task.id));
    expect(await world.entries(task.sessionId)).toHaveLength(3);
  });

  test('used twenty times at once, for two tasks, makes one delivery [K16, M10]', async () => {
    const [sender, one, two] = [await world.task(), await world.task(), await world.task()];
    const tasks = Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two));
    const sent = await Promise.all(tasks.map((task) => say(world, world.agent(sender), task.id, { idempotency_key: 'k'.repeat(500) })));
    const delivered = sent.filter((outcome) => !('refused' in outcome));
    expect(new Set(delivered.map((outcome) => accepted(outcome).delivery_id)).size).toBe(1);
    expect(delivered).toHaveLength(10);
    expect([...(await world.entries(one.sessionId)), ...(await world.entries(two.sessionId))]).toHaveLength(1);
  });
});

describe('a delivery', () => {
  test('shows its text to operators, sender and receiver, its state to others of the workspace', async () => {
    const [sender, receiver, other] = [await world.task(), await world.task(), await world.task()];
    const { delivery_id: id } = accepted(await say(world, world.agent(sender), receiver.id, { prompt: 'A secret.' }));
    for (const by of [world.operator, world.agent(sender), world.agent(receiver)]) {
      const seen = accepted(await world.services.messages.getDelivery(by, id));
      expect(seen).toMatchObject({ state: 'queued', sender_task_id: sender.id });
      expect(seen.text).toContain('A secret.');
    }
    expect(accepted(await world.services.messages.getDelivery(world.agent(other), id))).toMatchObject({ state: 'queued', text: '' });
    const stranger = { ...world.agent(other), workspaceId: other.id };
    expect(await world.services.messages.getDelivery(stranger, id)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('a text is canonical and within its limit in bytes [K19, O33]', async () => {
  const task = await world.task();
  accepted(await say(world, world.operator, task.id, { prompt: 'a\u0000b\ud800c' }));
  expect((await entriesOfKind(world, task.sessionId, 'prompt'))[0]?.text).toBe('a\ufffdb\ufffdc');
  const over = await say(world, world.operator, task.id, { prompt: 'é'.repeat(131_073) });
  expect(over).toMatchObject({ code: 'LIMIT_EXCEEDED', details: { field: 'prompt', max: 262_144, actual: 262_146 } });
});
