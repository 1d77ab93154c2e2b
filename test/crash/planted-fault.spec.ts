/** What the suite of crash points says of a process that loses half of what it began. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { World } from '../support/world.js';
import { pointsOf, readRecording } from './crash-points.js';
import { dieTogether } from './die.js';
import { createJobTable } from './table-queue.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
  await createJobTable(world.url);
});
afterAll(() => world.close());

test('a process whose statements commit one by one leaves a child that waits for ever, and is found out', async () => {
  const recorded = readRecording()['answer'];
  if (!recorded) throw new Error('an answer is a crash-tested operation');
  const points = pointsOf(recorded).filter(({ when }) => when === 'before');
  const ends = await dieTogether(world, 'answer', points, { withoutTransactions: true });
  const other = ends.filter(({ end }) => JSON.stringify(end) !== JSON.stringify(recorded.end));
  expect(other.map(({ point }) => point)).toEqual([expect.stringMatching(/^before \d+ .*INSERT queue_entry$/)]);
  expect(other[0]?.end).toEqual(expect.arrayContaining(['question answered', 'The child is waiting, its session idle']));
});
