import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { EventBus, Job, JobQueue } from '@echelon/messaging';
import { ROOT } from '../../../test/support/reached-root.js';
import { accepted, World } from '../../../test/support/world.js';
import { claimTurn } from './claim.js';
import { Relay } from './relay.js';
import { Sequencer } from './sequencer.js';
import { Sweeper } from './sweeper.js';

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** A sweeper as a process has it that has just started; `jobs` is what it handed to the queue. */
function startProcess(in_ = world): { readonly sweeper: Sweeper; readonly jobs: Job[] } {
  const jobs: Job[] = [];
  const queue: Pick<JobQueue, 'enqueue'> = { enqueue: async (given) => void jobs.push(...given) };
  const ignore = () => undefined;
  const { database, transactions } = in_;
  const bus: EventBus = { publish: ignore, subscribe: async () => ignore, onReconnect: () => ignore, close: async () => undefined };
  const sequencer = new Sequencer(database, bus, ignore);
  const relay = new Relay(database, queue as JobQueue, ignore, ignore);
  const log = { info: ignore, warn: ignore, error: ignore };
  const folders = { rootId: ROOT.id, remove: async () => undefined };
  return {
    sweeper: new Sweeper({ database, transactions, relay, sequencer, log, folders, elected: () => true, announceAfterMs: 0 }),
    jobs,
  };
}

test('what a process committed and did not announce before it died is announced as soon as another notices [K12, K14]', async () => {
  const [dead, silent, young] = [await world.task(), await world.task(), await world.task()];
  const { sweeper, jobs } = startProcess();
  await sweeper.sweepLeases();

  await world.prompt(dead.sessionId);
  await claimTurn(world.transactions, dead.sessionId, { owner: 'worker:gone', presence: '2000000001', leaseMs: 600_000, rootId: ROOT.id });
  await world.prompt(silent.sessionId);
  expect(await sweeper.sweepLeases()).toBe(1);
  expect(jobs.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining([dead.sessionId, silent.sessionId]));

  await world.prompt(young.sessionId);
  expect(await sweeper.sweepLeases()).toBe(0);
  expect(jobs.map(({ sessionId }) => sessionId)).not.toContain(young.sessionId);

  const restarted = startProcess();
  await restarted.sweeper.sweepLeases();
  expect(restarted.jobs.map(({ sessionId }) => sessionId)).toEqual([young.sessionId]);
  expect(restarted.jobs[0]?.id).toMatch(/^o-/);
});

test('a session that waits for a turn of its full tree is announced again, and not counted as lost [K10, K24]', async () => {
  const capped = await World.open({ turns_per_tree: 1 });
  const parent = await capped.task();
  const child = await capped.task({ parent });
  await capped.openTurn(parent.sessionId);
  await capped.prompt(child.sessionId);
  const lost = () => capped.rows(`SELECT session_id FROM event WHERE type = 'wake.lost'`);
  const { sweeper } = startProcess(capped);
  capped.announced.length = 0;
  await sweeper.sweepRest();
  expect({ announced: capped.announced, lost: await lost() }).toEqual({ announced: [child.sessionId], lost: [] });
  await capped.endSession(parent, parent.sessionId);
  await capped.rows(`UPDATE session SET announced_at = now() - interval '1 hour' WHERE id = $1`, [child.sessionId]);
  await sweeper.sweepRest();
  expect(await lost()).toEqual([{ session_id: child.sessionId }]);
  await capped.close();
});

test('deleted tasks, cascades that a process left, and operator questions that are over are swept', async () => {
  const [top, asking] = [await world.task(), await world.task()];
  const below = await world.task({ parent: top });
  const { id: questionId } = accepted(
    await world.services.questions.askUser(world.agent(asking), { questions: [{ prompt: 'Which?' }] }, 'call-1'),
  );
  await world.rows(`UPDATE task SET deleted_at = now() - interval '1 hour', state = 'cancelled' WHERE id = $1`, [top.id]);
  await world.rows('UPDATE agent_profile SET user_question_timeout_seconds = 1800');
  await world.rows(`UPDATE message SET created_at = created_at - interval '1 hour' WHERE id = $1`, [questionId]);
  const { sweeper } = startProcess();
  await sweeper.sweepRest();
  await sweeper.sweepDeleted(-1);
  expect(await world.rows('SELECT id FROM task WHERE id = ANY($1)', [[top.id, below.id]])).toEqual([]);
  expect(accepted(await world.services.questions.get(world.operator, questionId))).toMatchObject({ status: 'expired' });
});
