/** Messages that arrive while their session goes from busy to idle: each opens one turn, and no sweep has to help. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createPostgresJobQueue, createRedisJobQueue, type JobQueue } from '@echelon/messaging';
import { listForgotten, listLeftOutbox, listVoidLeases } from '@echelon/persistence';
import { startTestRedis, waitFor } from '@echelon/testkit';
import { describeWithRedis } from '@echelon/testkit/jest';
import { findViolations } from '../support/invariants.js';
import { World } from '../support/world.js';
import { Chance } from './chance.js';
import { Deployment } from './deployment.js';
import { type Race, raceMessages, raceQuestions, RacingAgents } from './racing-agents.js';

jest.setTimeout(180_000);

/** Sessions and families that race at once on each backend, and the trials of each. */
const SESSIONS = 10;
const MESSAGES = 350;
const FAMILIES = 6;
const QUESTIONS = 125;
/** On each backend; a question and its answer are a trial each. */
const TRIALS = SESSIONS * MESSAGES + 2 * FAMILIES * QUESTIONS;
const STALLED_MS = 150_000;

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

test(`none of ${TRIALS} messages is lost or doubled with the queue on Postgres [K1, K5]`, async () => {
  await raceAll((world) => createPostgresJobQueue({ connectionString: world.url }));
});

describeWithRedis('with Redis', () => {
  test(`none of ${TRIALS} messages is lost or doubled with the queue on Redis [K1, K5]`, async () => {
    const redis = await startTestRedis();
    closing.push(() => redis.stop());
    await raceAll(() => createRedisJobQueue({ url: redis.url }));
  });
});

async function raceAll(openQueue: (world: World) => JobQueue): Promise<void> {
  const world = await World.open();
  closing.push(() => world.close());
  const agents = new RacingAgents();
  const seed = Date.now() % 2 ** 32;
  const deployment = new Deployment(world, () => openQueue(world), agents);
  closing.push(() => deployment.close());
  await deployment.ready();
  const race: Race = { world, agents, chance: new Chance(seed), processes: deployment.processes, told: new Map() };
  const races = [
    ...Array.from({ length: SESSIONS }, () => raceMessages(race, MESSAGES)),
    ...Array.from({ length: FAMILIES }, () => raceQuestions(race, QUESTIONS)),
  ];
  const over = Promise.all(races).then(() => 'over');
  const how = await Promise.race([over, sleep(STALLED_MS, 'stalled', { ref: false })]);
  const told = Object.fromEntries(race.told);
  process.stdout.write(`seed ${seed}: ${TRIALS} trials, senders were told ${JSON.stringify(told)}\n`);
  expect({ how, left: await listUndelivered(world) }).toEqual({ how: 'over', left: [] });
  await expectOneTurnEach(world);
  expect(deployment.failures).toEqual([]);
  await waitFor('nothing is left for a sweep, and none runs', async () => (await countSwept(world, deployment)) === 0);
  expect(await findViolations(world.database)).toEqual({});
}

/** Every entry that waits, by its kind. */
function listUndelivered(world: World): Promise<readonly object[]> {
  return world.rows(`SELECT kind, state, session_id FROM queue_entry WHERE state <> 'delivered'`);
}

async function expectOneTurnEach(world: World): Promise<void> {
  const opened = await world.rows(
    `SELECT kind, turns, count(*)::int AS entries
     FROM (SELECT e.kind, (SELECT count(*)::int FROM turn WHERE opening_entry_id = e.id) AS turns FROM queue_entry e) AS entry
     GROUP BY kind, turns ORDER BY kind`,
  );
  expect(opened).toEqual([
    { kind: 'answer', turns: 1, entries: FAMILIES * QUESTIONS },
    { kind: 'prompt', turns: 1, entries: SESSIONS * MESSAGES + FAMILIES },
    { kind: 'question', turns: 1, entries: FAMILIES * QUESTIONS },
  ]);
}

/** What a sweep would find to help: announcements that were left, work that nobody does, leases that nobody holds. */
async function countSwept({ database }: World, deployment: Deployment): Promise<number> {
  await deployment.rest();
  const left = [await listLeftOutbox(database, 0, 100), await listForgotten(database, 0, 100), await listVoidLeases(database, 100)];
  return left.flat().length;
}
