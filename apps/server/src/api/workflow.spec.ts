import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RunningServer, startServer } from '../../../../test/support/running-server.js';

let server: RunningServer;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer();
  workspaceId = (await server.client.workspaces.create({ name: 'steps' })).id;
  await server.client.profiles.create({ workspace_id: workspaceId, name: 'default', provider: 'scripted', model: 'any' });
});
afterAll(() => server.stop());

test('a workflow is created once for a key, read, changed as a whole, and archived', async () => {
  const { workflows } = server.client;
  const input = {
    workspace_id: workspaceId,
    name: 'Usual',
    steps: [{ name: 'Plan', on_turn_complete: 'move_to_next' as const }, { name: 'Build' }],
  };
  const made = await workflows.create(input, { idempotencyKey: 'once' });
  expect(await workflows.create(input, { idempotencyKey: 'once' })).toEqual(made);
  expect(await workflows.get(made.id)).toEqual(made);
  expect((await workflows.list({ workspace_id: workspaceId })).items).toEqual([made]);
  const changed = await workflows.update(made.id, {
    steps: [{ name: 'Build' }, { name: 'Check', requires_signal: true }],
    is_default: true,
  });
  expect(changed).toMatchObject({ revision: 2, is_default: true, steps: [{ id: made.steps[1]?.id, position: 1 }, { name: 'Check' }] });
  await expect(workflows.update(made.id, { name: 'x', expected_revision: 1 })).rejects.toMatchObject({ code: 'CONFLICT' });
  expect((await workflows.archive(made.id)).archived_at).not.toBeNull();
  expect((await workflows.list({ workspace_id: workspaceId })).items).toEqual([]);
});

test('a task is moved over REST, and a step with a task in it stays', async () => {
  const { workflows, tasks } = server.client;
  const made = await workflows.create({ workspace_id: workspaceId, name: 'Moving', steps: [{ name: 'Plan' }, { name: 'Build' }] });
  const task = await tasks.create({ workspace_id: workspaceId, prompt: 'Do it.', start_agent: false, workflow_id: made.id });
  const [plan, build] = made.steps;
  expect(await tasks.move(task.id, { workflow_step_id: build?.id ?? '' })).toMatchObject({
    deferred: false,
    workflow_step: { name: 'Build' },
  });
  expect((await tasks.list({ workflow_step_id: build?.id ?? '' })).items).toMatchObject([{ id: task.id }]);
  await expect(workflows.update(made.id, { steps: [{ name: plan?.name ?? '' }] })).rejects.toMatchObject({
    code: 'WORKFLOW_STEP_IN_USE',
  });
});

test('a circle that would run for ever is a problem with its path', async () => {
  const steps = [
    { name: 'A', on_turn_complete: 'move_to_next' as const, instructions: 'A.' },
    { name: 'B', on_turn_complete: 'move_to_step' as const, move_to: 'A', instructions: 'B.' },
  ];
  await expect(server.client.workflows.create({ workspace_id: workspaceId, name: 'Loop', steps })).rejects.toMatchObject({
    code: 'WORKFLOW_LOOP',
  });
});
