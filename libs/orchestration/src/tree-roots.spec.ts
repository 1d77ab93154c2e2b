import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reachRoot, ROOT } from '../../../test/support/reached-root.js';
import { World } from '../../../test/support/world.js';
import { claimTurn } from './claim.js';

const FAR = { id: randomUUID(), host: 'far', path: '/far' };
const THERE = { owner: 'worker:far', presence: null, leaseMs: 600_000, rootId: FAR.id };

let world: World;
let leave: () => Promise<void>;

beforeAll(async () => {
  world = await World.open({ turns_per_tree: 1 });
  leave = await reachRoot(world.url, world.database, FAR, '2000000005');
});
afterAll(async () => {
  await leave();
  await world.close();
});

/** Places the folder of the session's task. */
function place(sessionId: string, rootId: string): Promise<unknown> {
  return world.rows(
    `INSERT INTO task_folder (folder, workspace_id, workspace_root_id)
     SELECT t.folder, t.workspace_id, $2 FROM session s JOIN task t ON t.id = s.task_id WHERE s.id = $1`,
    [sessionId, rootId],
  );
}

test('a free turn of a tree is announced in every root that a worker reaches, and one claim takes it [K10, K24]', async () => {
  const parent = await world.task();
  const sessions: string[] = [];
  for (let child = 0; child < 4; child++) sessions.push((await world.task({ parent })).sessionId);
  for (const sessionId of sessions) await world.prompt(sessionId);
  const [near, later, away, holding] = sessions as [string, string, string, string];
  await place(near, ROOT.id);
  await place(later, ROOT.id);
  await place(away, FAR.id);
  const claimed = await world.claim(holding);
  world.announced.length = 0;
  await world.endTurn(claimed);
  expect(world.announced.toSorted()).toEqual([near, away].toSorted());
  expect(await claimTurn(world.transactions, away, THERE)).not.toBeNull();
  expect(await world.tryClaim(near)).toBeNull();
});
