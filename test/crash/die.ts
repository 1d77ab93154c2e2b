/** The death of a process in the middle of operations, and the stories that follow. */
import { expect } from '@jest/globals';
import { startProgram, waitFor } from '@echelon/testkit';
import type { World } from '../support/world.js';
import { type Crash, type Doom, DOOM_VARIABLE, DOOMED } from './crash-points.js';
import { operationOf } from './operations.js';
import type { CrashPoint } from './statements.js';
import { playOn } from './story.js';

const KILLED = { code: null, signal: 'SIGKILL', output: '' };

export interface End {
  readonly point: string;
  readonly end: readonly string[];
}

/** One process, an operation for each point, all of which it takes with it; then every story to its end. */
export async function dieTogether(
  world: World,
  name: string,
  points: readonly CrashPoint[],
  how: Pick<Doom, 'withoutTransactions'> = {},
): Promise<readonly End[]> {
  const operation = operationOf(name);
  const crashes: Crash[] = [];
  for (const point of points) crashes.push({ operation: name, point, stage: await operation.scene(world) });
  await die(world, { ...how, url: world.url, crashes });
  const ends = await playOn(
    world,
    crashes.map(({ stage }) => ({ stage, operation })),
  );
  return points.map(({ when, statement }, index) => ({ point: `${when} ${statement}`, end: ends[index] ?? [] }));
}

async function die(world: World, doom: Doom): Promise<void> {
  const program = startProgram('test/crash/doomed.ts', { env: { [DOOM_VARIABLE]: JSON.stringify(doom) } });
  expect({ ...(await program.exited), output: program.output() }).toEqual(KILLED);
  const connections = 'SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()';
  await waitFor('Postgres has noticed the death', async () => (await world.rows(connections, [DOOMED])).length === 0);
}
