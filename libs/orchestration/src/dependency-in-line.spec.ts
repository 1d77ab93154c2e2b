import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CreatedTasks } from '../../../test/support/created-tasks.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import type { TaskService } from './task.service.js';

let world: World;
let service: TaskService;

beforeAll(async () => {
  world = await World.open();
  service = new CreatedTasks(world).service;
});
afterAll(() => world.close());

const add = (task: TestTask, blocker: TestTask) => service.addDependency(world.operator, task.id, blocker.id);
const edges = async () => (await world.rows('SELECT 1 FROM task_dependency')).length;

/** A task, one below it, one below that, and one beside them. */
async function line() {
  const top = await world.task();
  const middle = await world.task({ parent: top });
  return { top, middle, leaf: await world.task({ parent: middle }), beside: await world.task() };
}

describe('a dependency that could never be released', () => {
  test('on a task above is refused, with that task, at any distance', async () => {
    const { top, middle, leaf } = await line();
    const before = await edges();
    for (const [task, blocker] of [
      [middle, top],
      [leaf, middle],
      [leaf, top],
    ] as const)
      expect(await add(task, blocker)).toMatchObject({ code: 'DEPENDENCY_IN_LINE', details: { task_id: blocker.id } });
    expect(await edges()).toBe(before);
  });

  test('on a task below is refused: held, the one above could neither answer it nor hear of its end', async () => {
    const { top, middle, leaf } = await line();
    expect(await add(top, leaf)).toMatchObject({ code: 'DEPENDENCY_IN_LINE', details: { task_id: leaf.id } });
    expect(await add(middle, leaf)).toMatchObject({ code: 'DEPENDENCY_IN_LINE' });
  });

  test('on a task above through others is refused, whichever edge comes last', async () => {
    const first = await line();
    accepted(await add(first.beside, first.top));
    expect(await add(first.leaf, first.beside)).toMatchObject({ code: 'DEPENDENCY_IN_LINE', details: { task_id: first.top.id } });
    const last = await line();
    accepted(await add(last.leaf, last.beside));
    expect(await add(last.beside, last.top)).toMatchObject({ code: 'DEPENDENCY_IN_LINE', details: { task_id: last.top.id } });
  });

  test('is refused at creation, and leaves no task', async () => {
    const { top, leaf, beside } = await line();
    accepted(await add(beside, top));
    const input = { prompt: 'More.', autopilot: false, start_agent: true, parent_id: leaf.id };
    for (const blocker of [leaf, top, beside])
      expect(await service.create(world.operator, { ...input, blocked_by: [blocker.id] }, null)).toMatchObject({
        code: 'DEPENDENCY_IN_LINE',
      });
    expect(await world.rows('SELECT id FROM task WHERE parent_id = $1', [leaf.id])).toEqual([]);
  });

  test('does not come about by a new parent either, and nothing moves', async () => {
    const { top, leaf, beside } = await line();
    const other = await world.task();
    accepted(await add(beside, top));
    accepted(await add(leaf, other));
    for (const task of [beside, other])
      expect(await service.reparent(world.operator, task.id, leaf.id)).toMatchObject({
        code: 'DEPENDENCY_IN_LINE',
        details: { field: 'parent_id' },
      });
    expect(await world.taskRow(other.id)).toMatchObject({ parent_id: null });
  });
});

test('a sibling, a sibling of a parent, and a task elsewhere may be waited for', async () => {
  const { top, middle, leaf, beside } = await line();
  const [sibling, aunt] = [await world.task({ parent: middle }), await world.task({ parent: top })];
  for (const blocker of [sibling, aunt, beside]) accepted(await add(leaf, blocker));
});
