import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ToolBench } from '../../../test/support/tool-bench.js';

let bench: ToolBench;

beforeAll(async () => {
  bench = await ToolBench.open();
});
afterAll(() => bench.close());

test('a plan is written, read as markdown and deleted by its task; no acknowledgement repeats the text', async () => {
  const task = await bench.world.task();
  const agent = bench.world.agent(task);
  expect(await bench.call(agent, 'get_task_plan_kandev', {})).toMatchObject({ text: `Task ${task.id} has no plan.`, isError: false });
  expect(await bench.succeed(agent, 'create_task_plan_kandev', { content: '# One' })).toEqual({
    task_id: task.id,
    revision: 1,
    deduplicated: false,
  });
  expect(await bench.succeed(agent, 'update_task_plan_kandev', { content: '# Two', title: 'Steps', expected_revision: 1 })).toEqual({
    task_id: task.id,
    revision: 2,
    deduplicated: false,
  });
  expect(await bench.call(agent, 'get_task_plan_kandev', {})).toMatchObject({ text: 'Plan "Steps", revision 2:\n\n# Two' });
  expect(await bench.succeed(agent, 'delete_task_plan_kandev', {})).toEqual({ task_id: task.id, deleted: true });
});

test('a task outside the own tree is refused, and the own plan stays as it was', async () => {
  const [task, foreign] = [await bench.world.task(), await bench.world.task()];
  const agent = bench.world.agent(task);
  await bench.succeed(agent, 'create_task_plan_kandev', { content: '# Mine' });
  for (const [tool, input] of [
    ['create_task_plan_kandev', { content: '# Theirs' }],
    ['update_task_plan_kandev', { content: '# Theirs' }],
    ['get_task_plan_kandev', {}],
    ['delete_task_plan_kandev', {}],
  ] as const)
    expect(await bench.call(agent, tool, { ...input, task_id: foreign.id })).toMatchObject({ structured: { error: 'FORBIDDEN' } });
  expect(await bench.call(agent, 'get_task_plan_kandev', {})).toMatchObject({ text: 'Plan "Plan", revision 1:\n\n# Mine' });
  expect((await bench.call(bench.world.agent(foreign), 'get_task_plan_kandev', {})).text).toMatch(/has no plan/);
});

test('a retry under its call id does not undo what came after it [K16]', async () => {
  const task = await bench.world.task();
  const agent = bench.world.agent(task);
  await bench.succeed(agent, 'create_task_plan_kandev', { content: '# One' });
  const update = () => bench.call(agent, 'update_task_plan_kandev', { content: '# Two' }, { callId: 'call-7' });
  const first = await update();
  await bench.succeed(agent, 'update_task_plan_kandev', { content: '# Three' });
  expect(first.structured).toMatchObject({ revision: 2, deduplicated: false });
  expect((await update()).structured).toMatchObject({ revision: 2, deduplicated: true });
  expect((await bench.call(agent, 'get_task_plan_kandev', {})).text).toContain('# Three');
});

test('an operator names the task', async () => {
  const { operator } = bench.world;
  const task = await bench.world.task();
  expect(await bench.call(operator, 'get_task_plan_kandev', {})).toMatchObject({ structured: { error: 'INVALID_INPUT' } });
  await bench.succeed(operator, 'create_task_plan_kandev', { task_id: task.id, content: '# One' });
  expect((await bench.call(operator, 'get_task_plan_kandev', { task_id: task.id })).text).toContain('# One');
});
