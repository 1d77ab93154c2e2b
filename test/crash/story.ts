/** What follows the death of a process: the machine starts again, the caller calls again, and everybody works to the end. */
import type { Database } from '@echelon/persistence';
import { accepted, type World } from '../support/world.js';
import { type Machine, startMachine, workUntilRest } from './machine.js';
import type { Operation } from './operation.js';
import { readEnd, type Stage } from './stage.js';

export interface Story {
  readonly stage: Stage;
  readonly operation: Operation;
}

/** Plays all stories on from what Postgres holds, to their ends; gives these. Fails where something failed, or a wake-up was lost. */
export async function playOn(world: World, stories: readonly Story[]): Promise<readonly (readonly string[])[]> {
  const { database } = world;
  const machine = startMachine(
    database,
    stories.map(({ stage }) => stage),
  );
  for (const { stage, operation } of stories) if (operation.again) await (await operation.prepare(machine, stage))();
  await database.query(`UPDATE session SET lease_until = now() - interval '1 second' WHERE lease_owner IS NOT NULL`);
  await machine.sweeper.sweepLeases();
  await machine.sweeper.sweepRest();
  await workUntilRest(machine);
  for (const { stage, operation } of stories) if (operation.later) accepted(await operation.later(machine.hands, stage));
  await workUntilRest(machine);
  await refuseLosses(database, machine);
  return Promise.all(stories.map(({ stage }) => readEnd(database, stage)));
}

async function refuseLosses(database: Database, { failures }: Machine): Promise<void> {
  if (failures.length > 0) throw new AggregateError(failures, 'something failed on the way');
  const [lost] = await database.query(`SELECT session_id FROM event WHERE type = 'wake.lost'`);
  if (lost) throw new Error(`a wake-up was lost: ${JSON.stringify(lost)}`);
}
