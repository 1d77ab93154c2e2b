import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { lockTasks, newId } from '@echelon/persistence';
import { waitFor } from '@echelon/testkit';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { ContractService } from './contract.service.js';
import { TaskService } from './task.service.js';

const WAITING = 'SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()';

let world: World;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  tasks = new TaskService(world.database, world.transactions, { ...DEFAULT_LIMITS, depth: 3 });
});
afterAll(() => world.close());

async function ask(child: TestTask): Promise<string> {
  const { turn } = await world.openTurn(child.sessionId);
  const asked = await world.services.questions.askParent(
    world.agent(child, { turnId: turn.id }),
    { questions: [{ prompt: 'Which?' }] },
    newId(),
  );
  return accepted(asked).question_id;
}

test('a new parent makes the pending question stale and tells the child; neither parent can answer [R8, S4, S9]', async () => {
  const [before, after] = [await world.task(), await world.task()];
  const child = await world.task({ parent: before, autopilot: true });
  const questionId = await ask(child);
  expect(accepted(await tasks.reparent(world.operator, child.id, after.id))).toMatchObject({ parent_id: after.id, depth: 1 });
  expect(accepted(await world.services.questions.get(world.operator, questionId))).toMatchObject({
    status: 'stale',
    cause: 'parent_changed',
  });
  expect((await world.entries(child.sessionId)).filter(({ kind }) => kind === 'notice')).toMatchObject([{ state: 'queued' }]);
  expect((await world.entries(before.sessionId)).filter(({ kind }) => kind === 'question')).toMatchObject([{ state: 'cancelled' }]);
  for (const parent of [before, after]) {
    const reply = { prompt: 'This.', delivery_mode: 'queued' as const, reply_to_question_id: questionId };
    expect(await world.services.messages.send(world.agent(parent), child.id, reply)).toMatchObject({ refused: true });
  }
});

test('counters follow the child, and the old parent hears once that its other children have ended', async () => {
  const [before, after] = [await world.task(), await world.task()];
  const [leaving, ended] = [await world.task({ parent: before }), await world.task({ parent: before })];
  await world.move(ended, 'complete');
  accepted(await tasks.reparent(world.operator, leaving.id, after.id));
  accepted(await tasks.reparent(world.operator, leaving.id, after.id));
  expect(await world.taskRow(before.id)).toMatchObject({ open_children: 0 });
  expect(await world.taskRow(after.id)).toMatchObject({ open_children: 1 });
  expect((await world.entries(before.sessionId)).filter(({ kind }) => kind === 'alert')).toHaveLength(1);
});

test('one that comes below the task while another goes, before the locks are there, moves with it [K11, K20]', async () => {
  const [task, above] = [await world.task(), await world.task()];
  const [leaving, coming] = [await world.task({ parent: task }), await world.task()];
  const moving = await world.run(async (unit) => {
    await lockTasks(unit, [leaving.id]);
    const reparenting = tasks.reparent(world.operator, task.id, above.id);
    await waitFor('the lock', async () => (await world.rows(WAITING)).length > 0);
    await unit.query('UPDATE task SET parent_id = NULL, depth = 0 WHERE id = $1', [leaving.id]);
    await unit.query('UPDATE task SET parent_id = $2, depth = 1 WHERE id = $1', [coming.id, task.id]);
    return { reparenting };
  });
  expect(accepted(await moving.reparenting)).toMatchObject({ depth: 1 });
  expect((await world.taskRow(coming.id)).depth).toBe(2);
  expect((await world.taskRow(leaving.id)).depth).toBe(0);
});

test('an attached root gains the question tool, a detached child loses it and leaves no alert', async () => {
  const [parent, task] = [await world.task(), await world.task({ autopilot: true })];
  const contracts = new ContractService(world.database, { subscribe: () => Promise.resolve(() => undefined) });
  const asks = async () => accepted(await contracts.get(task.sessionId)).capabilities.includes('parent_question');
  expect(await asks()).toBe(false);
  accepted(await tasks.reparent(world.operator, task.id, parent.id));
  expect(await asks()).toBe(true);
  accepted(await tasks.reparent(world.operator, task.id, null));
  expect(await asks()).toBe(false);
  expect(await world.entries(parent.sessionId)).toEqual([]);
});

test('a cycle, too deep a tree and an agent are refused, and nothing moves', async () => {
  const root = await world.task();
  const middle = await world.task({ parent: root });
  const leaf = await world.task({ parent: middle });
  for (const parent of [root, leaf])
    expect(await tasks.reparent(world.operator, root.id, parent.id)).toMatchObject({ code: 'PARENT_NOT_USABLE' });
  const other = await world.task({ parent: await world.task() });
  expect(await tasks.reparent(world.operator, root.id, other.id)).toMatchObject({ code: 'DEPTH_EXCEEDED' });
  expect(await tasks.reparent(world.agent(root), middle.id, null)).toMatchObject({ code: 'FORBIDDEN' });
  expect(await world.taskRow(middle.id)).toMatchObject({ parent_id: root.id, depth: 1 });
});

test('two opposite moves at once make no cycle', async () => {
  const [one, two] = [await world.task(), await world.task()];
  const moves = await Promise.all([tasks.reparent(world.operator, one.id, two.id), tasks.reparent(world.operator, two.id, one.id)]);
  expect(moves.filter((move) => 'refused' in move)).toMatchObject([{ code: 'PARENT_NOT_USABLE' }]);
});

test('a task that a cascade of deletion has yet to reach is not moved away, nor is another one moved to it [K20]', async () => {
  const top = await world.task();
  const middle = await world.task({ parent: top });
  const leaf = await world.task({ parent: middle });
  const other = await world.task();
  await world.rows(`UPDATE task SET deleted_at = now(), state = 'cancelled' WHERE id = $1`, [top.id]);
  for (const [task, parent] of [
    [middle, other],
    [middle, null],
    [leaf, other],
    [other, leaf],
  ] as const)
    expect(await tasks.reparent(world.operator, task.id, parent?.id ?? null)).toMatchObject({ code: 'TASK_STOPPING' });
  expect(await world.taskRow(leaf.id)).toMatchObject({ parent_id: middle.id });
});
