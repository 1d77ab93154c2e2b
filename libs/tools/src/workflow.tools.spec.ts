import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Workflow } from '@echelon/contracts';
import { ToolBench } from '../../../test/support/tool-bench.js';
import { Workflows } from '../../../test/support/workflows.js';

let bench: ToolBench;
let workflows: Workflows;
let workflow: Workflow;

beforeAll(async () => {
  bench = await ToolBench.open();
  workflows = new Workflows(bench.world);
  workflow = await workflows.define(
    { name: 'Plan', on_turn_complete: 'move_to_next' },
    { name: 'Build', requires_signal: true, instructions: 'Build.' },
  );
});
afterAll(() => bench.close());

test('an agent finds the workflows of its workspace, and their steps with their rules', async () => {
  const agent = bench.world.agent(await bench.world.task());
  expect(await bench.succeed(agent, 'list_workflows_kandev', {})).toEqual({
    workflows: [{ workflow_id: workflow.id, name: workflow.name, is_default: false, steps: ['Plan', 'Build'] }],
    next_cursor: null,
  });
  expect(await bench.succeed(agent, 'list_workflow_steps_kandev', { workflow_id: workflow.id })).toMatchObject({
    workflow_id: workflow.id,
    steps: [
      { position: 1, name: 'Plan', on_turn_complete: 'move_to_next' },
      { position: 2, name: 'Build', requires_signal: true, instructions: 'Build.' },
    ],
  });
});

test('an agent delegates into a workflow, and moves its child; the answer says when the move waits for the turn', async () => {
  const { parent } = await bench.family();
  const agent = bench.world.agent(parent);
  const child = await bench.succeed(agent, 'create_task_kandev', { prompt: 'Do it.', autopilot: true, workflow_id: workflow.id });
  expect(child).toMatchObject({ workflow_id: workflow.id, workflow_step: { name: 'Plan' } });
  const move = { task_id: child['id'], workflow_step_id: workflow.steps[1]?.id };
  await bench.world.claim(String(child['primary_session_id']));
  expect(await bench.succeed(agent, 'move_task_kandev', move)).toMatchObject({ deferred: true, workflow_step: { name: 'Plan' } });
  const [other] = (await workflows.define({ name: 'Other' })).steps;
  const wrong = { ...move, workflow_id: workflow.id, workflow_step_id: other?.id };
  expect(await bench.call(agent, 'move_task_kandev', wrong)).toMatchObject({ structured: { error: 'INVALID_INPUT' } });
});

test('"self" is the task of the agent that calls, and no task for an operator', async () => {
  const task = await workflows.taskIn(workflow);
  const move = { task_id: 'self', workflow_step_id: workflow.steps[1]?.id };
  expect(await bench.succeed(bench.world.agent(task), 'move_task_kandev', move)).toMatchObject({ task_id: task.id, deferred: false });
  expect(await bench.call(bench.world.operator, 'move_task_kandev', move)).toMatchObject({ structured: { error: 'INVALID_INPUT' } });
});

test('after a question to the parent an agent moves nothing [A16]', async () => {
  const { child } = await bench.family();
  await bench.world.openTurn(child.sessionId);
  const agent = bench.world.agent(child);
  await bench.callMcp(agent, 'ask_parent_question_kandev', { questions: [{ prompt: 'Which?' }] });
  const move = { task_id: 'self', workflow_step_id: workflow.steps[0]?.id };
  for (const surface of ['loop', 'mcp'] as const)
    expect(await bench.call(agent, 'move_task_kandev', move, { surface })).toMatchObject({
      structured: { error: 'TURN_ENDED_BY_QUESTION' },
    });
});
