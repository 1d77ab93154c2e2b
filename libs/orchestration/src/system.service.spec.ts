import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { World } from '../../../test/support/world.js';
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
