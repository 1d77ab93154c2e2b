/**
 * Every statement of every operation, with the process killed before and after it: the machine starts again, and the story comes to
 * the end that it has without any death.
 */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { findViolations } from '../support/invariants.js';
import { World } from '../support/world.js';
import { pointsOf, readRecording, type Recorded } from './crash-points.js';
import { dieTogether, type End } from './die.js';
import { operationOf } from './operations.js';
import type { CrashPoint } from './statements.js';
import { createJobTable } from './table-queue.js';

jest.setTimeout(240_000);

/** Processes that run at once, and the operations that die with each. */
const PROCESSES = 2;
const OPERATIONS_AT_ONCE = 36;

const RECORDING = Object.entries(readRecording());

/** One for each process that runs. */
let worlds: readonly World[];

beforeEach(async () => {
  worlds = await Promise.all(Array.from({ length: PROCESSES }, () => World.open()));
  await Promise.all(worlds.map(({ url }) => createJobTable(url)));
});
afterEach(() => Promise.all(worlds.map((world) => world.close())));

/** Dies at every point, many points to a process; gives how each story ended, and every invariant that was offended on the way. */
async function dieAtAll(
  name: string,
  points: readonly CrashPoint[],
): Promise<{ readonly ends: readonly End[]; readonly violations: object }> {
  const left = [...points];
  const together = operationOf(name).alone ? 1 : OPERATIONS_AT_ONCE;
  const ends: End[] = [];
  const violations = {};
  const work = async (world: World) => {
    while (left.length > 0) {
      ends.push(...(await dieTogether(world, name, left.splice(0, together))));
      Object.assign(violations, await findViolations(world.database));
    }
  };
  await Promise.all(worlds.map(work));
  return { ends, violations };
}

describe('a process that is killed before or after any statement leaves stories that come to their only end', () => {
  test.each(RECORDING)('%s', async (name, recorded) => {
    const { ends, violations } = await dieAtAll(name, pointsOf(recorded));
    expect(ends.filter(({ end }) => JSON.stringify(end) !== JSON.stringify(recorded.end))).toEqual([]);
    expect(ends).toHaveLength(2 * recorded.statements.length);
    expect(violations).toEqual({});
  });
});

test('the crash points are counted', () => {
  const count = RECORDING.flatMap(([, recorded]: readonly [string, Recorded]) => pointsOf(recorded)).length;
  process.stdout.write(`${count} crash points of ${RECORDING.length} operations\n`);
  expect(count).toBeGreaterThan(1_000);
});
