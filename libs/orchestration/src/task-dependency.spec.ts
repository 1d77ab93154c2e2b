import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkInvariants } from '@echelon/persistence';
import { agentOf, CreatedTasks } from '../../../test/support/created-tasks.js';
import { answer, waitingChild } from '../../../test/support/waiting-child.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { alertParent, lockFamilies } from './ending.js';
import type { TaskService } from './task.service.js';

let world: World;
let tasks: CreatedTasks;
let service: TaskService;

beforeAll(async () => {
  world = await World.open();
  tasks = new CreatedTasks(world);
  service = tasks.service;
});
afterAll(() => world.close());

async function add(task: { id: string }, blocker: { id: string }) {
  return accepted(await service.addDependency(world.operator, task.id, blocker.id));
}

async function remove(task: { id: string }, blocker: { id: string }) {
  return accepted(await service.removeDependency(world.operator, task.id, blocker.id));
}

async function stateOf({ id }: { id: string }) {
  return (await world.taskRow(id)).state;
}

/** Turns that were opened in the task's session. */
async function turnsOf({ sessionId }: TestTask): Promise<number> {
  return (await world.rows('SELECT id FROM turn WHERE session_id = $1', [sessionId])).length;
}

describe('an added dependency', () => {
  test('holds a task that has not started, and the same again changes nothing', async () => {
    const [task, blocker] = [await world.task(), await world.task()];
    await world.prompt(task.sessionId);
    const held = { task_id: task.id, blocked: true, blocked_reason: null, depends_on: [blocker.id] };
    expect(await add(task, blocker)).toEqual(held);
    expect(await add(task, blocker)).toEqual(held);
    expect(await stateOf(task)).toBe('blocked');
    expect(await world.tryClaim(task.sessionId)).toBeNull();
    await world.move(blocker, 'complete');
    expect(await stateOf(task)).toBe('ready');
    expect(world.announced).toContain(task.sessionId);
    await world.claim(task.sessionId);
    expect(await turnsOf(task)).toBe(1);
  });

  test('lets a running turn end, and holds the next', async () => {
    const [task, blocker] = [await world.task(), await world.task()];
    const running = await world.openTurn(task.sessionId);
    await world.prompt(task.sessionId, 'And then.');
    expect(await add(task, blocker)).toMatchObject({ blocked: true });
    expect(await stateOf(task)).toBe('in_progress');
    await world.endTurn(running);
    expect(await world.tryClaim(task.sessionId)).toBeNull();
    await world.move(blocker, 'complete');
    await world.claim(task.sessionId);
    expect(await turnsOf(task)).toBe(2);
  });

  test('on a completed task holds nothing', async () => {
    const [task, blocker] = [await world.task(), await world.task()];
    await world.move(blocker, 'complete');
    expect(await add(task, blocker)).toMatchObject({ blocked: false, depends_on: [blocker.id] });
    expect(await stateOf(task)).toBe('ready');
  });

  test('that closes a cycle is refused with the whole path, and leaves nothing', async () => {
    const [a, b, c] = [await world.task(), await world.task(), await world.task()];
    await add(a, b);
    await add(b, c);
    const refused = await service.addDependency(world.operator, c.id, a.id);
    expect(refused).toMatchObject({ code: 'DEPENDENCY_CYCLE', details: { path: [c.id, a.id, b.id, c.id] } });
    expect(await service.addDependency(world.operator, c.id, c.id)).toMatchObject({
      code: 'DEPENDENCY_CYCLE',
      details: { path: [c.id, c.id] },
    });
    expect(await remove(c, a)).toMatchObject({ blocked: false, depends_on: [] });
  });

  test('and its opposite at once make no cycle [K20]', async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b] = [await world.task(), await world.task()];
      const both = await Promise.all([
        service.addDependency(world.operator, a.id, b.id),
        service.addDependency(world.operator, b.id, a.id),
      ]);
      expect(both.filter((each) => 'refused' in each)).toMatchObject([{ code: 'DEPENDENCY_CYCLE' }]);
    }
  });

  test('of an ended task, on one that will not complete, and across workspaces is refused', async () => {
    const [task, ended, failed, foreign] = [await world.task(), await world.task(), await world.task(), await tasks.createElsewhere()];
    await world.move(ended, 'complete');
    await world.move(failed, 'fail');
    expect(await service.addDependency(world.operator, ended.id, task.id)).toMatchObject({ code: 'TASK_TERMINAL' });
    expect(await service.addDependency(world.operator, task.id, failed.id)).toMatchObject({ code: 'TASK_TERMINAL' });
    expect(await service.addDependency(world.operator, task.id, foreign.id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await service.addDependency(world.agent(task), foreign.id, task.id)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('is for the task’s own agent and its direct parent’s, not for others', async () => {
    const top = await tasks.create();
    const parent = await tasks.create({ parent_id: top.id });
    const [task, sibling] = [await tasks.create({ parent_id: parent.id }), await tasks.create({ parent_id: parent.id })];
    for (const caller of [top, sibling]) {
      expect(await service.addDependency(agentOf(caller), task.id, sibling.id)).toMatchObject({ code: 'FORBIDDEN' });
      expect(await service.removeDependency(agentOf(caller), task.id, sibling.id)).toMatchObject({ code: 'FORBIDDEN' });
    }
    expect(await service.addDependency(agentOf(parent), task.id, sibling.id)).toMatchObject({ blocked: true });
    expect(await service.removeDependency(agentOf(task), task.id, sibling.id)).toMatchObject({ blocked: false });
  });
});

describe('a removed dependency', () => {
  test('on a failed blocker, which the reason named, starts what waited', async () => {
    const [task, blocker] = [await world.task(), await world.task()];
    await world.prompt(task.sessionId);
    await add(task, blocker);
    await world.move(blocker, 'fail');
    expect((await add(task, blocker)).blocked_reason).toContain(`${blocker.id} (failed)`);
    expect(await remove(task, blocker)).toEqual({ task_id: task.id, blocked: false, blocked_reason: null, depends_on: [] });
    expect(await remove(task, blocker)).toMatchObject({ blocked: false });
    expect(await stateOf(task)).toBe('ready');
    await world.claim(task.sessionId);
  });

  test('that is not the last keeps the task blocked', async () => {
    const [task, one, two] = [await world.task(), await world.task(), await world.task()];
    await add(task, one);
    await add(task, two);
    expect(await remove(task, one)).toMatchObject({ blocked: true, depends_on: [two.id] });
    expect(await stateOf(task)).toBe('blocked');
  });
});

describe('races', () => {
  const ROUNDS = 40;

  test('of the last blocker’s end with another added and removed lose no start and make none twice [K5]', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [task, last, other] = [await world.task(), await world.task(), await world.task()];
      await world.prompt(task.sessionId);
      await add(task, last);
      const contenders = [
        () => world.move(last, 'complete'),
        () => service.addDependency(world.operator, task.id, other.id),
        () => service.removeDependency(world.operator, task.id, round % 2 === 0 ? other.id : last.id),
        () => world.tryClaim(task.sessionId),
        () => world.tryClaim(task.sessionId),
      ];
      await Promise.all(contenders.map((_, index) => contenders[(index + round) % contenders.length]!()));
      const { depends_on: left } = await remove(task, last);
      const blocked = left.includes(other.id);
      if ((await turnsOf(task)) === 0) {
        expect(await stateOf(task)).toBe(blocked ? 'blocked' : 'ready');
        expect((await world.sessionRow(task.sessionId)).runnable).toBe(!blocked);
        if (blocked) await world.move(other, 'complete');
        expect(world.announced).toContain(task.sessionId);
        await world.claim(task.sessionId);
      }
      expect(await turnsOf(task)).toBe(1);
      expect((await world.entries(task.sessionId)).map(({ state }) => state)).toEqual(['delivered']);
      expect(await world.tryClaim(task.sessionId)).toBeNull();
    }
  });

  test('of two blockers that complete together release what waits for both', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [task, one, two] = [await world.task(), await world.task(), await world.task()];
      await world.prompt(task.sessionId);
      await add(task, one);
      await add(task, two);
      await Promise.all([world.move(one, 'complete'), world.move(two, 'complete')]);
      expect(await stateOf(task)).toBe('ready');
      expect((await world.sessionRow(task.sessionId)).runnable).toBe(true);
      await world.claim(task.sessionId);
    }
  });
});

describe('a blocker that will not complete', () => {
  test.each(['fail', 'cancel', 'archive'] as const)(
    'by %s is told to the dependent’s parent once, and as a change of the dependent',
    async (how) => {
      const [parent, blocker] = [await world.task(), await world.task({ title: 'Groundwork' })];
      const dependent = await world.task({ parent });
      await add(dependent, blocker);
      const before = (await world.rows('SELECT id FROM event WHERE task_id = $1', [dependent.id])).length;
      if (how === 'archive') accepted(await service.archive(world.operator, blocker.id));
      else await world.move(blocker, how);
      const alerts = await world.entries(parent.sessionId);
      expect(alerts).toMatchObject([{ kind: 'alert', state: 'queued', rank: 2, sender_task_id: dependent.id }]);
      expect(alerts[0]?.text).toContain(blocker.id);
      expect(await stateOf(dependent)).toBe('blocked');
      const events = await world.rows('SELECT type FROM event WHERE task_id = $1 ORDER BY id', [dependent.id]);
      expect(events.slice(before)).toEqual([{ type: 'task.updated' }]);
    },
  );

  test('is folded into the alert that waits: a bad end and each blocker stay named', async () => {
    const [parent, first, second] = [await world.task(), await world.task(), await world.task()];
    const dependent = await world.task({ parent });
    const running = await world.openTurn(dependent.sessionId);
    for (const blocker of [first, second]) await add(dependent, blocker);
    await world.move(first, 'fail');
    await world.run(async (unit) => {
      const { tasks: family } = await lockFamilies(unit, [dependent.id]);
      await alertParent(unit, family.get(dependent.id)!, { turnId: running.turn.id, outcome: 'error', detail: 'no more money' });
    });
    await world.move(second, 'cancel');
    const alerts = await world.entries(parent.sessionId);
    expect(alerts).toHaveLength(1);
    for (const named of ['no more money', `${first.id} (failed)`, `${second.id} (cancelled)`]) expect(alerts[0]?.text).toContain(named);
  });

  test('tells nobody where the dependent has no parent, has ended, or its parent has', async () => {
    const [parent, blocker] = [await world.task(), await world.task()];
    const [root, ended, orphan] = [await world.task(), await world.task({ parent }), await world.task({ parent })];
    for (const task of [root, ended, orphan]) await add(task, blocker);
    await world.move(ended, 'cancel');
    await world.move(parent, 'cancel');
    await world.move(blocker, 'fail');
    expect((await world.entries(parent.sessionId)).filter(({ kind }) => kind === 'alert')).toEqual([]);
  });
});

test('an answer to a task that was blocked meanwhile is held, opens its one turn on release, and offends nothing while it waits [R1, I2]', async () => {
  const one = await waitingChild(world);
  const blocker = await world.task();
  await add(one.child, blocker);
  accepted(await answer(world, one, world.agent(one.parent)));
  expect(await world.tryClaim(one.child.sessionId)).toBeNull();
  const found = await world.database.transaction((tx) => checkInvariants(tx, 5));
  expect(found.find(({ name }) => name.startsWith('every answered question has exactly one child turn'))?.rows).toEqual([]);
  await world.move(blocker, 'complete');
  const { turn } = await world.claim(one.child.sessionId);
  const [entry] = (await world.entries(one.child.sessionId)).filter(({ kind }) => kind === 'answer');
  expect(turn.opening_entry_id).toBe(entry?.id);
});
