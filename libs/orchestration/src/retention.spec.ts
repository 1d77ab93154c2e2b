import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { lockSequencer, readEventRange, stampEvents } from '@echelon/persistence';
import { World } from '../../../test/support/world.js';
import { applyRetention } from './retention.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

async function tell(count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    await world.run((unit) =>
      unit.tell({ workspaceId: world.workspaceId, type: 'task.updated', taskId: null, sessionId: null, data: { number } }),
    );
  }
  await world.run(async (unit) => {
    await lockSequencer(unit);
    await stampEvents(unit, 100);
  });
}

test('old events go, young ones and the newest stay, and the oldest position is known [K15]', async () => {
  await tell(3);
  await world.rows(`UPDATE event SET created_at = now() - interval '8 days'`);
  await tell(2);
  await applyRetention(world.database);
  expect((await world.rows('SELECT id FROM event')).length).toBe(2);
  expect(await readEventRange(world.database)).toEqual({ head: '5', oldest: '4' });
  await world.rows(`UPDATE event SET created_at = now() - interval '8 days'`);
  await applyRetention(world.database);
  expect(await world.rows('SELECT position FROM event')).toEqual([{ position: '5' }]);
});
