import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@echelon/persistence';
import type { EventBus, LiveEvent } from '@echelon/messaging';
import { World } from '../../../test/support/world.js';
import { Sequencer } from './sequencer.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** A bus that keeps what it is given: the port's other side. */
function keepingBus(): EventBus & { readonly sent: LiveEvent[] } {
  const sent: LiveEvent[] = [];
  return {
    sent,
    publish: (events) => void sent.push(...events),
    subscribe: () => Promise.resolve(() => undefined),
    onReconnect: () => () => undefined,
    close: () => Promise.resolve(),
  };
}

function fail(error: unknown): never {
  throw error;
}

function tell(number: number): Promise<void> {
  return world.run((unit) =>
    unit.tell({ workspaceId: world.workspaceId, type: 'task.updated', taskId: newId(), sessionId: null, data: { number } }),
  );
}

test('positions rise in the order of the bus, whatever the order of the commits, with several sequencers [K15]', async () => {
  const bus = keepingBus();
  const sequencers = [new Sequencer(world.database, bus, fail), new Sequencer(world.database, bus, fail)];
  await Promise.all(
    Array.from({ length: 60 }, async (_none, number) => {
      await tell(number);
      await sequencers[number % 2]?.stampAll();
    }),
  );
  const positions = bus.sent.map(({ payload }) => Number((JSON.parse(payload) as { position: string }).position));
  expect(positions).toHaveLength(60);
  expect(new Set(positions).size).toBe(60);
  const rows = await world.rows<{ position: string }>('SELECT position FROM event ORDER BY position');
  expect(rows.map(({ position }) => Number(position))).toEqual(positions.toSorted((a, b) => a - b));
});

test('an event of a transaction that is still open has no position, and gets a later one [K15]', async () => {
  const bus = keepingBus();
  const sequencer = new Sequencer(world.database, bus, fail);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let told = (): void => undefined;
  const inserted = new Promise<void>((resolve) => (told = resolve));
  const slow = world.run(async (unit) => {
    await unit.tell({ workspaceId: world.workspaceId, type: 'task.updated', taskId: null, sessionId: null, data: { slow: true } });
    told();
    await held;
  });
  await inserted;
  await tell(1);
  await sequencer.stampAll();
  expect(bus.sent.map(({ payload }) => payload).filter((payload) => payload.includes('slow'))).toEqual([]);
  const first = Number((JSON.parse(bus.sent.at(-1)?.payload ?? '{}') as { position: string }).position);
  release();
  await slow;
  await sequencer.stampAll();
  const last = JSON.parse(bus.sent.at(-1)?.payload ?? '{}') as { position: string; data: object };
  expect(last.data).toEqual({ slow: true });
  expect(Number(last.position)).toBeGreaterThan(first);
});
