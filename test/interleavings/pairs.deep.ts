/** Each pair of operations that race, in every order of their statements, on real transactions: never both win, never none. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { checkInvariants } from '@echelon/persistence';
import { World } from '../support/world.js';
import { Actor } from './gate.js';
import { type Pair, PAIRS } from './pairs.js';
import { exploreAll, playSchedule } from './schedule.js';

jest.setTimeout(600_000);

let world: World;
let actors: readonly [Actor, Actor];

beforeAll(async () => {
  world = await World.open();
  actors = [new Actor(world.url), new Actor(world.url)];
});
afterAll(async () => {
  await Promise.all(actors.map((actor) => actor.close()));
  await world.close();
});

/** Plays every schedule of a pair; returns how many there were and what came of them. */
async function explore(pair: Pair): Promise<{ readonly schedules: number; readonly outcomes: ReadonlySet<string> }> {
  const outcomes = new Set<string>();
  const doors = actors.map(({ database }) => world.through(database));
  const schedules = await exploreAll(async (prefix) => {
    const race = await pair.set(world);
    actors[0].begin(() => race.first(doors[0]!));
    actors[1].begin(() => race.second(doors[1]!));
    const played = await playSchedule(world.database, actors, prefix);
    try {
      outcomes.add(await race.judge(await actors[0].outcome(), await actors[1].outcome()));
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${played.steps.join('\n')}`, { cause: error });
    }
    return played;
  });
  return { schedules, outcomes };
}

test('the search finds a lost update', async () => {
  const values = new Set<number>();
  await world.asOwner('CREATE TABLE counter (value int NOT NULL); GRANT ALL ON counter TO PUBLIC');
  await exploreAll(async (prefix) => {
    await world.rows('DELETE FROM counter');
    await world.rows('INSERT INTO counter VALUES (0)');
    for (const actor of actors)
      actor.begin(() =>
        actor.database.transaction(async (tx) => {
          const [row] = await tx.query<{ value: number }>('SELECT value FROM counter');
          await tx.query('UPDATE counter SET value = $1', [row!.value + 1]);
        }),
      );
    const played = await playSchedule(world.database, actors, prefix);
    const [row] = await world.rows<{ value: number }>('SELECT value FROM counter');
    values.add(row!.value);
    return played;
  });
  expect([...values].sort()).toEqual([1, 2]);
});

describe('in every order of their statements', () => {
  test.each(Object.keys(PAIRS))('%s have one winner, and the loser no effect', async (name) => {
    const pair = PAIRS[name]!;
    const { schedules, outcomes } = await explore(pair);
    process.stdout.write(`${name}: ${schedules} schedules, ${[...outcomes].join(' | ')}\n`);
    expect([...outcomes].sort()).toEqual([...pair.outcomes].sort());
  });

  test('nothing that always holds was offended', async () => {
    const checked = await world.database.transaction((tx) => checkInvariants(tx, 10));
    expect(checked.filter(({ always, rows }) => always && rows.length > 0)).toEqual([]);
  });
});
