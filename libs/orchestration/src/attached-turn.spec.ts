import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkInvariants } from '@echelon/persistence';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { type AttachedAgent, enterTurn, findDelivery, leaveTurn, takeDelivery } from './attached-turn.js';
import { recoverLease } from './lease-recovery.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

async function attached(options: { readonly parent?: TestTask } = {}): Promise<AttachedAgent & { readonly task: TestTask }> {
  const task = await world.task({ ...options, runtime: 'external' });
  return { task, taskId: task.id, sessionId: task.sessionId, owner: 'external:one' };
}

/** Ten idle minutes pass, by the database's clock. */
async function idle({ sessionId }: AttachedAgent): Promise<boolean> {
  await world.rows(`UPDATE session SET lease_until = clock_timestamp() - interval '1 second' WHERE id = $1`, [sessionId]);
  return recoverLease(world.transactions, sessionId);
}

async function outcomes({ sessionId }: AttachedAgent) {
  return (await world.rows<{ outcome: string | null }>('SELECT outcome FROM turn WHERE session_id = $1 ORDER BY number', [sessionId])).map(
    ({ outcome }) => outcome,
  );
}

const take = (agent: AttachedAgent, finished: string | null = null) => world.run((unit) => takeDelivery(unit, agent, finished));
const enter = (agent: AttachedAgent) => world.run((unit) => enterTurn(unit, agent));

describe('the lease of an attached session', () => {
  test('names its token, has no process, and rises by one for each taker: the turn stays the same', async () => {
    const agent = await attached();
    await world.prompt(agent.sessionId);
    const first = await take(agent);
    expect(await world.sessionRow(agent.sessionId)).toMatchObject({ lease_owner: 'external:one', lease_presence: null, state: 'running' });
    const other = await take({ ...agent, owner: 'external:two' });
    expect(other).toMatchObject({ again: true, turn: { id: (first as { turn: { id: string } }).turn.id } });
    expect(await world.sessionRow(agent.sessionId)).toMatchObject({ lease_owner: 'external:two', lease_epoch: '2' });
  });

  test('is never announced to our workers', async () => {
    const agent = await attached();
    await world.prompt(agent.sessionId);
    expect(world.announced).not.toContain(agent.sessionId);
    expect(await world.tryClaim(agent.sessionId)).toBeNull();
  });

  test('ends with its turn after ten idle minutes, completed if any call came after the delivery', async () => {
    const agent = await attached();
    await world.prompt(agent.sessionId);
    await take(agent);
    await enter(agent);
    expect(await recoverLease(world.transactions, agent.sessionId)).toBe(false);
    expect(await idle(agent)).toBe(true);
    expect(await outcomes(agent)).toEqual(['completed']);
    expect(await world.sessionRow(agent.sessionId)).toMatchObject({ state: 'idle', lease_owner: null });
    expect(await world.taskRow(agent.taskId)).toMatchObject({ state: 'review' });
  });

  test('ends interrupted, and the parent is told, when nothing shows that the delivery arrived', async () => {
    const parent = await world.task();
    const agent = await attached({ parent });
    await world.prompt(agent.sessionId);
    await take(agent);
    await idle(agent);
    expect(await outcomes(agent)).toEqual(['interrupted']);
    expect(await world.entries(parent.sessionId)).toMatchObject([{ kind: 'alert', sender_task_id: agent.taskId }]);
  });

  test('is not needed to go on: a call after the idle time keeps the turn that nobody has swept', async () => {
    const agent = await attached();
    await enter(agent);
    await world.rows(`UPDATE session SET lease_until = clock_timestamp() - interval '1 second' WHERE id = $1`, [agent.sessionId]);
    await enter(agent);
    expect(await recoverLease(world.transactions, agent.sessionId)).toBe(false);
    expect(await outcomes(agent)).toEqual([null]);
  });
});

describe('a delivery', () => {
  test('that may never have arrived leaves one notice, which names it and how to read it; it is not handed out again', async () => {
    const agent = await attached();
    const lost = await world.prompt(agent.sessionId, 'Build it.');
    await take(agent);
    await idle(agent);
    const [, notice] = await world.entries(agent.sessionId);
    expect(notice).toMatchObject({ kind: 'notice', rank: 0, state: 'queued', sender_kind: 'system' });
    expect(notice?.text).toContain(`get_message_delivery_kandev {"delivery_id":"${lost.id}"}`);
    expect(accepted(await world.services.messages.getDelivery(world.agent(agent.task), lost.id)).text).toBe('Build it.');
    expect(await take(agent)).toMatchObject({ again: false, entry: { id: notice?.id } });
    expect(await outcomes(agent)).toEqual(['interrupted', null]);
  });

  test('of such a notice that is lost too is written again as it was, so that what was lost first stays named', async () => {
    const agent = await attached();
    await world.prompt(agent.sessionId);
    for (let time = 0; time < 2; time++) {
      await take(agent);
      await idle(agent);
    }
    const [, first, second, ...more] = await world.entries(agent.sessionId);
    expect([first?.state, second?.state, more]).toEqual(['delivered', 'queued', []]);
    expect(second?.text).toBe(first?.text);
  });

  test('can be read again without being taken as long as its turn is open', async () => {
    const agent = await attached();
    const entry = await world.prompt(agent.sessionId);
    expect(await findDelivery(world.database, agent.sessionId)).toBeNull();
    const first = (await take(agent)) as { turn: { id: string } };
    expect(await findDelivery(world.database, agent.sessionId)).toMatchObject({ turn: { id: first.turn.id }, entry: { id: entry.id } });
    await take(agent, first.turn.id);
    expect(await findDelivery(world.database, agent.sessionId)).toBeNull();
    await enter(agent);
    expect(await findDelivery(world.database, agent.sessionId)).toBeNull();
  });

  test('that another wait was given meanwhile is not ended by a call that began before it', async () => {
    const agent = await attached();
    for (const text of ['a', 'b']) await world.prompt(agent.sessionId, text);
    await take(agent);
    const { turnId } = (await enter(agent)) as { turnId: string };
    await take(agent, turnId);
    await world.run((unit) => leaveTurn(unit, agent, turnId));
    expect(await outcomes(agent)).toEqual(['completed', null]);
    const { turnId: second } = (await enter(agent)) as { turnId: string };
    await world.run((unit) => leaveTurn(unit, agent, second));
    expect(await outcomes(agent)).toEqual(['completed', 'completed']);
  });

  test('whose transaction fails is no delivery, and one whose response is lost comes again: neither is lost or doubled', async () => {
    const agent = await attached();
    const entry = await world.prompt(agent.sessionId);
    const failing = world.run(async (unit) => {
      await takeDelivery(unit, agent, null);
      throw new Error('the server dies');
    });
    await expect(failing).rejects.toThrow('dies');
    expect(await world.entries(agent.sessionId)).toMatchObject([{ state: 'queued' }]);
    const first = await take(agent);
    expect(first).toMatchObject({ again: false, entry: { id: entry.id } });
    expect(await take(agent)).toMatchObject({ again: true, entry: { id: entry.id } });
    expect(await outcomes(agent)).toEqual([null]);
  });

  test('that names a turn which is long over ends nothing', async () => {
    const agent = await attached();
    for (const text of ['a', 'b']) await world.prompt(agent.sessionId, text);
    const first = (await take(agent)) as { turn: { id: string } };
    await take(agent, first.turn.id);
    expect(await take(agent, first.turn.id)).toMatchObject({ again: true, entry: { text: 'b' } });
    expect(await outcomes(agent)).toEqual(['completed', null]);
  });

  test('to a session that is stopped, blocked or over does not happen, nor does its agent open a turn by itself', async () => {
    const agent = await attached();
    await world.prompt(agent.sessionId);
    await world.rows('UPDATE session SET auto_run = false WHERE id = $1', [agent.sessionId]);
    expect(await take(agent)).toBeNull();
    expect(await enter(agent)).toEqual({ turnId: null });
    expect(await outcomes(agent)).toEqual([]);
    await world.move(agent.task, 'cancel');
    expect(await take(agent)).toMatchObject({ code: 'SESSION_TERMINAL' });
  });

  test('leaves every invariant intact that holds after each commit', async () => {
    const found = await world.database.transaction((tx) => checkInvariants(tx, 5));
    expect(found.filter(({ always, rows }) => always && rows.length > 0)).toEqual([]);
  });
});

test.each(['external', 'passthrough'] as const)(
  'an autopilot task whose session has a %s runtime starts nothing, by no way [F14]',
  async (runtime) => {
    const task = await world.task({ autopilot: true, runtime });
    await world.prompt(task.sessionId);
    const agent = { task, taskId: task.id, sessionId: task.sessionId, owner: 'external:one' };
    expect(await take(agent)).toMatchObject({ code: 'PROFILE_INCOMPATIBLE', details: { runtime } });
    expect(await enter(agent)).toMatchObject({ code: 'PROFILE_INCOMPATIBLE' });
    expect(await world.tryClaim(task.sessionId)).toBeNull();
    expect(await outcomes(agent)).toEqual([]);
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'created', lease_owner: null });
  },
);
