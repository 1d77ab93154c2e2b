/** The list of crash points is what the operations do now: a statement that is new, gone or moved fails here. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Database } from '@echelon/persistence';
import { findViolations } from '../support/invariants.js';
import { World } from '../support/world.js';
import { readRecording, type Recorded, writeRecording } from './crash-points.js';
import { startDoomed } from './machine.js';
import type { Operation } from './operation.js';
import { OPERATIONS } from './operations.js';
import { openWatched, recordStatements } from './statements.js';
import { playOn } from './story.js';
import { createJobTable } from './table-queue.js';

let world: World;
let watched: Database;

beforeAll(async () => {
  world = await World.open();
  watched = openWatched(world.url, 'recorded');
  await createJobTable(world.url);
});
afterAll(async () => {
  await watched.close();
  await world.close();
});

async function record(operation: Operation): Promise<Recorded> {
  const stage = await operation.scene(world);
  const statements = await recordStatements(await operation.prepare(startDoomed(watched), stage));
  const [end = []] = await playOn(world, [{ stage, operation }]);
  return { statements, end };
}

test('every statement of every operation is a crash point, and every story has an end', async () => {
  const recording: Record<string, Recorded> = {};
  for (const [name, operation] of Object.entries(OPERATIONS)) recording[name] = await record(operation);
  if (process.env['WRITE_GOLDEN']) writeRecording(recording);
  expect(recording).toEqual(readRecording());
  expect(await findViolations(world.database)).toEqual({});
});
