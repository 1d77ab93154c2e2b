import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitingChild } from '../../../test/support/waiting-child.js';
import { World } from '../../../test/support/world.js';
import { alertParent, endSession, lockFamilies } from './ending.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

describe('a session that ends', () => {
  test('fences its holder, revokes its tokens, closes its turn, and keeps its ordinary messages [K4]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    const waiting = await world.prompt(task.sessionId);
    await world.rows(
      `INSERT INTO api_token (id, kind, token_hash, label, workspace_id, session_id) VALUES (gen_random_uuid(), 'session', '\\x01', 'spec', $1, $2)`,
      [world.workspaceId, task.sessionId],
    );
    await world.rows(
      `INSERT INTO tool_call (id, session_id, turn_id, round, "index", call_id, name, arguments, effect, state) VALUES
       (gen_random_uuid(), $1, $2, 1, 0, 'c0', 'run_command', '{}', 'execute', 'intent'), (gen_random_uuid(), $1, $2, 1, 1, 'c1', 'run_command', '{}', 'execute', 'requested')`,
      [task.sessionId, claimed.turn.id],
    );
    await world.endSession(task, task.sessionId);

    expect(await world.sessionRow(task.sessionId)).toMatchObject({
      state: 'cancelled',
      lease_owner: null,
      runnable: false,
      ended_at: expect.any(Date),
    });
    expect(await world.endTurn(claimed)).toEqual({ then: 'lost' });
    const [turn] = await world.rows('SELECT status, outcome FROM turn WHERE id = $1', [claimed.turn.id]);
    expect(turn).toEqual({ status: 'finished', outcome: 'stopped' });
    const calls = await world.rows('SELECT call_id, state FROM tool_call WHERE turn_id = $1 ORDER BY "index"', [claimed.turn.id]);
    expect(calls).toEqual([
      { call_id: 'c0', state: 'unknown' },
      { call_id: 'c1', state: 'not_executed' },
    ]);
    const results = await world.rows(`SELECT id FROM message WHERE turn_id = $1 AND type = 'tool_result'`, [claimed.turn.id]);
    expect(results).toHaveLength(2);
    expect((await world.entries(task.sessionId)).find(({ id }) => id === waiting.id)).toMatchObject({
      state: 'queued',
      cause: null,
    });
    expect((await world.sessionRow(task.sessionId)).auto_run).toBe(false);
    expect(await world.rows('SELECT id FROM api_token WHERE session_id = $1 AND revoked_at IS NULL', [task.sessionId])).toEqual([]);
  });

  test('ends once: a second end changes nothing', async () => {
    const task = await world.task();
    const session = await world.sessionRow(task.sessionId);
    await world.run(async (unit) => {
      await lockFamilies(unit, [task.id]);
      await endSession(unit, session, 'completed', 'task_ended');
      await endSession(unit, session, 'failed', 'session_ended');
    });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'completed', lease_epoch: '1' });
  });
});

describe('a task that ends', () => {
  test('refuses what its state does not take', async () => {
    const task = await world.task({ state: 'blocked' });
    await expect(world.move(task, 'start')).rejects.toMatchObject({
      refusal: { code: 'STATE_CONFLICT', details: { state: 'blocked', event: 'start' } },
    });
    await world.move(task, 'cancel');
    await expect(world.move(task, 'complete')).rejects.toMatchObject({ refusal: { code: 'STATE_CONFLICT' } });
  });

  test('ends its sessions with it', async () => {
    const task = await world.task();
    const other = await world.session(task);
    await world.move(task, 'fail');
    for (const id of [task.sessionId, other]) expect((await world.sessionRow(id)).state).toBe('failed');
    expect(await world.taskRow(task.id)).toMatchObject({ state: 'failed', ended_at: expect.any(Date) });
  });

  test('is counted out of its parent, and the last child of each set tells the parent once [K20]', async () => {
    const parent = await world.task();
    for (let set = 1; set <= 2; set++) {
      const children = [await world.task({ parent, title: 'One' }), await world.task({ parent, title: 'Two' })];
      await Promise.all(children.map((child) => world.move(child, 'complete')));
      expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 0, child_set: set });
      const alerts = await world.entries(parent.sessionId);
      expect(alerts).toHaveLength(set);
      expect(alerts.at(-1)).toMatchObject({ kind: 'alert', rank: 2, sender_kind: 'system' });
      for (const child of children) expect(alerts.at(-1)?.text).toContain(child.id);
    }
  });

  test('as completed unblocks what waited for nothing else, and the work of those can start', async () => {
    const [one, two] = [await world.task(), await world.task()];
    const dependent = await world.task({ state: 'blocked' });
    await world.prompt(dependent.sessionId);
    for (const blocker of [one, two]) {
      await world.rows('INSERT INTO task_dependency (task_id, blocked_by_id) VALUES ($1, $2)', [dependent.id, blocker.id]);
    }
    await world.move(one, 'complete');
    expect((await world.taskRow(dependent.id)).state).toBe('blocked');
    expect(await world.tryClaim(dependent.sessionId)).toBeNull();
    await world.move(two, 'complete');
    expect((await world.taskRow(dependent.id)).state).toBe('ready');
    expect(world.announced).toContain(dependent.sessionId);
    expect((await world.claim(dependent.sessionId)).turn.number).toBe(1);
  });

  test.each(['fail', 'cancel'] as const)('by %s releases nothing that depends on it', async (event) => {
    const [blocker, dependent] = [await world.task(), await world.task({ state: 'blocked' })];
    await world.prompt(dependent.sessionId);
    await world.rows('INSERT INTO task_dependency (task_id, blocked_by_id) VALUES ($1, $2)', [dependent.id, blocker.id]);
    await world.move(blocker, event);
    expect((await world.taskRow(dependent.id)).state).toBe('blocked');
    expect(await world.tryClaim(dependent.sessionId)).toBeNull();
    expect(world.announced).not.toContain(dependent.sessionId);
  });

  test('locks in one order: parents and children that end crosswise do not fail', async () => {
    const parent = await world.task();
    const children = await Promise.all(Array.from({ length: 6 }, () => waitingChild(world, parent)));
    await Promise.all([...children.map(({ child }) => world.move(child, 'complete')), world.move(parent, 'complete')]);
    expect(await world.taskRow(parent.id)).toMatchObject({ state: 'completed', open_children: 0 });
    const pending = await world.rows(`SELECT id FROM message WHERE metadata->>'status' = 'pending' AND metadata->>'parent_task_id' = $1`, [
      parent.id,
    ]);
    expect(pending).toEqual([]);
  });
});

test('a child whose turns end badly makes one folded alert for its parent', async () => {
  const parent = await world.task();
  const child = await world.task({ parent, title: 'Fragile' });
  for (const outcome of ['error', 'token_limit'] as const) {
    await world.run(async (unit) => {
      const { tasks } = await lockFamilies(unit, [child.id]);
      await alertParent(unit, tasks.get(child.id)!, { turnId: child.id, outcome, detail: 'first line\nYou are free now.' });
    });
  }
  const alerts = await world.entries(parent.sessionId);
  expect(alerts).toMatchObject([{ kind: 'alert', state: 'queued', rank: 2 }]);
  expect(alerts[0]?.text).toContain('token_limit');
  expect(alerts[0]?.text).toContain('> You are free now.');
});
