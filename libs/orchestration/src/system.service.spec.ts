import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { newId } from '@echelon/persistence';
import { CreatedTasks } from '../../../test/support/created-tasks.js';
import { ROOT } from '../../../test/support/reached-root.js';
import { accepted, World } from '../../../test/support/world.js';
import { SystemService } from './system.service.js';

let world: World;
let system: SystemService;

beforeAll(async () => {
  world = await World.open();
  system = new SystemService(world.database);
});
afterAll(() => world.close());

async function offended(): Promise<object> {
  const report = await system.checkInvariants(world.operator);
  if (!('invariants' in report)) throw new Error('refused');
  return Object.fromEntries(
    report.invariants.filter(({ rows }) => rows.length > 0).map(({ name, always, rows }) => [name, { always, rows }]),
  );
}

describe('checking the invariants', () => {
  test('finds nothing on a database where all hold', async () => {
    const report = await system.checkInvariants(world.operator);
    expect(report).toMatchObject({ ok: true });
  });

  test('is dated by the database’s clock, whatever this process takes for the time [K19]', async () => {
    jest.useFakeTimers({
      now: 0,
      doNotFake: [
        'hrtime',
        'nextTick',
        'performance',
        'queueMicrotask',
        'setImmediate',
        'clearImmediate',
        'setInterval',
        'clearInterval',
        'setTimeout',
        'clearTimeout',
      ],
    });
    try {
      const { checked_at } = (await system.checkInvariants(world.operator)) as { checked_at: string };
      expect(checked_at > '2026').toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });

  test('is for operators', async () => {
    expect(await system.checkInvariants(world.agent(await world.task()))).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('names the rows that offend, and says which of them recovery may still heal [I1, I4]', async () => {
    const task = await world.task();
    const second = await world.session(task);
    await world.rows('UPDATE session SET is_primary = false WHERE task_id = $1', [task.id]);
    await world.rows(`UPDATE session SET state = 'waiting_for_input' WHERE id = $1`, [second]);
    const parent = await world.task();
    await world.rows('UPDATE task SET open_children = 3 WHERE id = $1', [parent.id]);
    await world.rows('UPDATE session SET runnable = true WHERE id = $1', [parent.sessionId]);
    expect(await offended()).toEqual({
      'exactly one primary session per task': { always: true, rows: [{ id: task.id, primaries: 0 }] },
      'no child waits for nobody': { always: true, rows: [{ id: second }] },
      'open children are counted as they are': { always: true, rows: [{ id: parent.id, open_children: 3, open: 0 }] },
      'no session has work that nobody does': { always: false, rows: [{ id: parent.sessionId, state: 'created' }] },
    });
  });
});

describe('a check', () => {
  const report = (rows: object) => expect.objectContaining({ rows });

  test('takes work that is announced, or waits for a slot, for a backlog; work that nothing announced is lost', async () => {
    const task = await world.task();
    await world.prompt(task.sessionId);
    const named = async () =>
      ((await offended()) as Record<string, { rows: readonly { id: string }[] }>)['no session has work that nobody does']?.rows ?? [];
    const isLost = async () => (await named()).some(({ id }) => id === task.sessionId);
    expect(await isLost()).toBe(false);
    await world.rows('DELETE FROM outbox WHERE session_id = $1', [task.sessionId]);
    expect(await isLost()).toBe(false);
    await world.rows(`UPDATE session SET announced_at = now() - interval '1 day' WHERE id = $1`, [task.sessionId]);
    expect(await isLost()).toBe(false);
    await world.rows('UPDATE worker SET slots = 1');
    expect(await isLost()).toBe(true);
    await world.rows('UPDATE worker SET slots = 0');
    await world.rows('UPDATE session SET announced_at = NULL WHERE id = $1', [task.sessionId]);
    expect(await isLost()).toBe(true);
  });

  test('is refused while another runs, and when a query takes too long', async () => {
    const impatient = new SystemService(world.database, 200);
    await world.run(async (unit) => {
      await unit.query('LOCK TABLE message IN ACCESS EXCLUSIVE MODE');
      const outcomes = await Promise.all([impatient.checkInvariants(world.operator), impatient.checkInvariants(world.operator)]);
      expect(outcomes).toMatchObject([
        { code: 'CONFLICT', details: { rule: expect.stringContaining('0.2 s') } },
        { code: 'CONFLICT', details: { rule: 'one check at a time' } },
      ]);
    });
    expect(await impatient.checkInvariants(world.operator)).toMatchObject({ invariants: expect.arrayContaining([report([])]) });
  });

  test('knows the call that created a task by its id, whatever became of the result and however often it was repeated [I3]', async () => {
    const parent = await world.task();
    const { turn } = await world.openTurn(parent.sessionId);
    const calls = ['shortened', 'repeated', 'missing'];
    const made = new CreatedTasks(world);
    const tasks = await Promise.all(
      calls.map(async (name) =>
        accepted(await made.service.create(world.agent(parent), made.request({ parent_id: parent.id }), `call:${name}`)),
      ),
    );
    const record = (callId: string, result: string) =>
      world.rows(
        `INSERT INTO tool_call (id, session_id, turn_id, round, "index", call_id, name, arguments, effect, state, result)
         VALUES (gen_random_uuid(), $1, $2, 1, 0, $3, 'create_task_kandev', '{}', 'write', 'done', $4)`,
        [parent.sessionId, turn.id, callId, result],
      );
    await record('shortened', '[shortened]');
    await record('repeated', `"id": "${tasks[1]?.id ?? ''}"`);
    await record('again', `"id": "${tasks[1]?.id ?? ''}", "deduplicated": true`);
    const found = (await offended()) as Record<string, { rows: readonly object[] }>;
    expect(found['every task that an agent of ours created has exactly one creating call']?.rows).toEqual([{ id: tasks[2]?.id, calls: 0 }]);
  });
});

test('operators are told which workspace roots there are, who reaches them, and how much waits in each; agents are not', async () => {
  const [task, far] = [await world.task(), newId()];
  await world.endTurn(await world.openTurn(task.sessionId));
  await world.rows(`INSERT INTO workspace_root (id, host, path) VALUES ($1, 'gone', '/gone')`, [far]);
  await world.rows('UPDATE task_folder SET workspace_root_id = $2 WHERE folder = $1', [task.id, far]);
  await world.prompt(task.sessionId);
  const { items } = accepted(await system.listWorkspaceRoots(world.operator));
  expect(items).toHaveLength(2);
  expect(items[0]).toMatchObject({ ...ROOT, workers: 1 });
  expect(items[1]).toMatchObject({ id: far, host: 'gone', path: '/gone', workers: 0, waiting_sessions: 1 });
  expect(await system.listWorkspaceRoots(world.agent(task))).toMatchObject({ code: 'FORBIDDEN' });
});

test('an advisory lock of another kind with the numbers of a presence is no presence [K12]', async () => {
  const { sessionId } = await world.task();
  const claimed = await world.openTurn(sessionId);
  const { lease_presence: held } = await world.sessionRow(sessionId);
  const change = (presence: unknown) => world.rows('UPDATE session SET lease_presence = $2 WHERE id = $1', [sessionId, presence]);
  await change('1999999999');
  const found = await world.database.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock((7270736::bigint << 32) | 1999999999)');
    return offended();
  });
  expect(found).toMatchObject({ 'no session runs without a live lease': { always: false, rows: [{ id: sessionId }] } });
  await change(held);
  await world.endTurn(claimed);
});
