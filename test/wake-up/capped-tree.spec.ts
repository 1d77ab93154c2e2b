/** A tree with far more work than turns, on two workers: it never runs more than it may, and all of it runs without a sweep. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createPostgresJobQueue } from '@echelon/messaging';
import { countTreeTurns, findEntry, listForgotten, listLeftOutbox } from '@echelon/persistence';
import { waitFor } from '@echelon/testkit';
import { findViolations } from '../support/invariants.js';
import { accepted, type TestTask, World } from '../support/world.js';
import { Deployment } from './deployment.js';
import { RacingAgents } from './racing-agents.js';

jest.setTimeout(120_000);

const CHILDREN = 8;
const ROUNDS = 2;

describe.each([1, 2])('with %s turns a tree', (cap) => {
  let world: World;
  let agents: RacingAgents;
  let deployment: Deployment;

  beforeAll(async () => {
    world = await World.open({ turns_per_tree: cap });
    agents = new RacingAgents();
    deployment = new Deployment(world, () => createPostgresJobQueue({ connectionString: world.url }), agents);
    await deployment.ready();
  });
  afterAll(async () => {
    await deployment.close();
    await world.close();
  });

  test('children that all have work and ask their parent come to their end, never more at once [K10, K24]', async () => {
    const root = await world.task();
    const most: number[] = [];
    const note = async () => void most.push(await countTreeTurns(world.database, root.id));
    const children: TestTask[] = [];
    for (let child = 0; child < CHILDREN; child++) children.push(await world.task({ parent: root, autopilot: true }));
    agents.cast(root, async (actor, entryId) => {
      await note();
      const entry = await findEntry(world.database, entryId);
      const asker = children.find(({ sessionId }) => sessionId === entry?.sender_session_id);
      const reply = { prompt: 'Yes.', delivery_mode: 'queued', reply_to_question_id: entry?.question_id ?? '' } as const;
      accepted(await pick().messages.send(actor, asker!.id, reply));
    });
    let over = 0;
    for (const child of children) {
      let turns = 0;
      agents.cast(child, async (actor) => {
        await note();
        turns += 1;
        if (turns > ROUNDS) return void (over += 1);
        accepted(await pick().questions.askParent(actor, { questions: [{ prompt: 'Shall I?' }] }, `ask-${turns}`));
      });
    }
    await Promise.all(children.map(({ id }) => pick().messages.send(world.operator, id, { prompt: 'Go on.', delivery_mode: 'queued' })));
    await waitFor('every child has come to its end', () => over === CHILDREN, 100);
    await waitFor('nothing is left for a sweep, and none runs', async () => (await countSwept()) === 0);
    expect(Math.max(...most)).toBe(cap);
    expect(deployment.failures).toEqual([]);
    expect(await findViolations(world.database)).toEqual({});
  });

  let picked = 0;
  function pick() {
    return deployment.processes[picked++ % deployment.processes.length]!;
  }

  async function countSwept(): Promise<number> {
    await deployment.rest();
    return [await listLeftOutbox(world.database, 0, 100), await listForgotten(world.database, 0, 100)].flat().length;
  }
});
