import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CreateTask, Workflow } from '@echelon/contracts';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { Workflows } from '../../../test/support/workflows.js';
import { accepted, World } from '../../../test/support/world.js';

let world: World;
let workflows: Workflows;

beforeAll(async () => {
  world = await World.open();
  workflows = new Workflows(world);
});
afterAll(() => world.close());

const STEP = { on_turn_complete: 'none', requires_signal: false, instructions: '' } as const;

function namesOf(workflow: Workflow): readonly string[] {
  return workflow.steps.map(({ name, position }) => `${position} ${name}`);
}

function create(more: Partial<CreateTask>) {
  const input = { prompt: 'Do it.', autopilot: false, blocked_by: [], start_agent: true, workspace_id: world.workspaceId, ...more };
  return workflows.tasks.create(world.operator, input, null);
}

describe('defining a workflow', () => {
  test('stores its steps in their order, with what they lead to by name', async () => {
    const made = await workflows.define(
      { name: 'Plan', on_turn_complete: 'move_to_next' },
      { name: 'Build', requires_signal: true, instructions: ' Build it.\0 ', on_turn_complete: 'move_to_step', move_to: 'Plan' },
    );
    expect(made).toMatchObject({ is_default: false, revision: 1, archived_at: null });
    expect(made.steps).toMatchObject([
      { position: 1, name: 'Plan', on_turn_complete: 'move_to_next', move_to: null },
      { position: 2, name: 'Build', on_turn_complete: 'move_to_step', move_to: 'Plan', requires_signal: true },
    ]);
    expect(made.steps[1]?.instructions).not.toContain('\0');
    expect(accepted(await workflows.service.get(world.operator, made.id))).toEqual(made);
    const page = accepted(await workflows.service.list(world.operator, { workspace_id: world.workspaceId, limit: 50 }));
    expect(page.items).toContainEqual(made);
  });

  test('is for operators; an agent reads those of its workspace', async () => {
    const made = await workflows.define({ name: 'Only' });
    const agent = world.agent(await world.task());
    expect(await workflows.service.create(agent, workflows.input({ name: 'Mine' }))).toMatchObject({ code: 'FORBIDDEN' });
    expect(await workflows.service.update(agent, made.id, { name: 'Mine' })).toMatchObject({ code: 'FORBIDDEN' });
    expect(await workflows.service.archive(agent, made.id)).toMatchObject({ code: 'FORBIDDEN' });
    expect(accepted(await workflows.service.get(agent, made.id)).id).toBe(made.id);
    expect(await workflows.service.get({ ...agent, workspaceId: agent.taskId }, made.id)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('refuses a circle that would run for ever, a taken name, and instructions over the limit; nothing of it is stored', async () => {
    const loop = workflows.input(
      { name: 'A', on_turn_complete: 'move_to_next', instructions: 'A.' },
      { name: 'B', on_turn_complete: 'move_to_step', move_to: 'A', instructions: 'B.' },
    );
    expect(await workflows.service.create(world.operator, loop)).toMatchObject({
      code: 'WORKFLOW_LOOP',
      details: { path: ['A', 'B', 'A'] },
    });
    const taken = { ...workflows.input({ name: 'A' }), name: (await workflows.define({ name: 'A' })).name };
    expect(await workflows.service.create(world.operator, taken)).toMatchObject({ code: 'CONFLICT', details: { field: 'name' } });
    const long = workflows.input({ name: 'A', instructions: 'x'.repeat(DEFAULT_LIMITS.instructions_bytes + 1) });
    expect(await workflows.service.create(world.operator, long)).toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(await world.rows('SELECT 1 FROM workflow WHERE name = ANY($1)', [[loop.name, long.name]])).toEqual([]);
  });
});

describe('changing a workflow', () => {
  test('adds, renames, reorders and archives steps in one call; steps keep their ids', async () => {
    const made = await workflows.define({ name: 'A' }, { name: 'B' }, { name: 'C' });
    const [a, b, c] = made.steps;
    const steps = [
      { ...STEP, name: 'C' },
      { ...STEP, name: 'New' },
      { ...STEP, id: a!.id, name: 'First' },
    ];
    const changed = accepted(
      await workflows.service.update(world.operator, made.id, { steps, name: `${made.name} b`, expected_revision: 1 }),
    );
    expect(changed).toMatchObject({ revision: 2, name: `${made.name} b` });
    expect(namesOf(changed)).toEqual(['1 C', '2 New', '3 First']);
    expect([changed.steps[0]?.id, changed.steps[2]?.id]).toEqual([c!.id, a!.id]);
    expect(
      await world.rows('SELECT archived_at IS NOT NULL AS archived, position < 0 AS below FROM workflow_step WHERE id = $1', [b!.id]),
    ).toEqual([{ archived: true, below: true }]);
    expect(namesOf(accepted(await workflows.service.update(world.operator, made.id, { steps: [{ ...STEP, name: 'B' }] })))).toEqual([
      '1 B',
    ]);
  });

  test('of another revision, with a step of another workflow, or one id twice is refused', async () => {
    const [made, other] = [await workflows.define({ name: 'A' }), await workflows.define({ name: 'A' })];
    const update = (input: Parameters<typeof workflows.service.update>[2]) => workflows.service.update(world.operator, made.id, input);
    const [a] = made.steps;
    expect(await update({ name: 'x', expected_revision: 2 })).toMatchObject({ code: 'CONFLICT', details: { revision: 1 } });
    expect(await update({ steps: [{ ...STEP, id: other.steps[0]!.id, name: 'A' }] })).toMatchObject({ code: 'NOT_FOUND' });
    const twice = [
      { ...STEP, id: a!.id, name: 'A' },
      { ...STEP, id: a!.id, name: 'B' },
    ];
    expect(await update({ steps: twice })).toMatchObject({ code: 'INVALID_INPUT' });
    expect(accepted(await workflows.service.get(world.operator, made.id))).toEqual(made);
  });

  test('a step in which only deleted tasks are is taken away, archived ones among them', async () => {
    const made = await workflows.define({ name: 'A' }, { name: 'B' });
    const [archived, running] = [await workflows.taskIn(made, 'B'), await workflows.taskIn(made, 'B')];
    await world.openTurn(running.sessionId);
    accepted(await workflows.tasks.archive(world.operator, archived.id));
    for (const { id } of [archived, running]) accepted(await workflows.tasks.delete(world.operator, id, { cascade: false }));
    accepted(await workflows.service.update(world.operator, made.id, { steps: [{ ...STEP, name: 'A' }] }));
  });

  test('a step with tasks that have not ended is not taken away, nor is one that a task moves to when its turn ends', async () => {
    const made = await workflows.define({ name: 'A' }, { name: 'B' });
    const task = await workflows.taskIn(made, 'B');
    const onlyA = { steps: [{ ...STEP, name: 'A' }] };
    expect(await workflows.service.update(world.operator, made.id, onlyA)).toMatchObject({
      code: 'WORKFLOW_STEP_IN_USE',
      details: { step: 'B', tasks: 1 },
    });
    expect(await workflows.service.archive(world.operator, made.id)).toMatchObject({ code: 'WORKFLOW_STEP_IN_USE' });
    accepted(await workflows.move(world.operator, task, made, 'A'));
    await world.openTurn(task.sessionId);
    accepted(await workflows.move(world.operator, task, made, 'B'));
    expect(await workflows.service.update(world.operator, made.id, onlyA)).toMatchObject({ code: 'WORKFLOW_STEP_IN_USE' });
    await world.move(task, 'cancel');
    expect(namesOf(accepted(await workflows.service.update(world.operator, made.id, onlyA)))).toEqual(['1 A']);
    expect(accepted(await workflows.service.archive(world.operator, made.id)).archived_at).not.toBeNull();
    expect(accepted(await workflows.service.archive(world.operator, made.id)).revision).toBe(3);
    expect(await workflows.service.update(world.operator, made.id, { name: 'x' })).toMatchObject({ code: 'CONFLICT' });
  });

  test('and a task that enters a step, at the same moment: the step is in use or gone, never both [K20]', async () => {
    for (let round = 0; round < 10; round++) {
      const made = await workflows.define({ name: 'A' }, { name: 'B' });
      const task = await workflows.taskIn(made, 'A');
      const [moved, changed] = await Promise.all([
        workflows.move(world.operator, task, made, 'B'),
        workflows.service.update(world.operator, made.id, { steps: [{ ...STEP, name: 'A' }] }),
      ]);
      expect([moved, changed].filter((outcome) => 'refused' in outcome)).toHaveLength(1);
    }
  });
});

describe('a task and its workflow', () => {
  test('has none unless one is named; the named one puts it into its first step', async () => {
    const made = await workflows.define({ name: 'A' }, { name: 'B' });
    expect(accepted(await create({}))).toMatchObject({ workflow_id: null, workflow_step: null });
    const inA = accepted(await create({ workflow_id: made.id }));
    expect(inA).toMatchObject({ workflow_id: made.id, workflow_step: { id: made.steps[0]!.id, name: 'A' } });
    const inB = accepted(await create({ workflow_step_id: made.steps[1]!.id }));
    expect(inB).toMatchObject({ workflow_id: made.id, workflow_step: { name: 'B' } });
    const list = (filter: object) => workflows.tasks.list(world.operator, { limit: 50, ...filter });
    expect(accepted(await list({ workflow_id: made.id })).items.map(({ id }) => id)).toEqual([inB.id, inA.id]);
    expect(accepted(await list({ workflow_step_id: made.steps[0]!.id })).items.map(({ id }) => id)).toEqual([inA.id]);
  });

  test('the default of the workspace is at most one, and a task may name it without its id', async () => {
    const first = accepted(await workflows.service.create(world.operator, { ...workflows.input({ name: 'A' }), is_default: true }));
    expect(accepted(await create({ workflow_id: 'default' })).workflow_id).toBe(first.id);
    const second = await workflows.define({ name: 'B' });
    expect(accepted(await workflows.service.update(world.operator, second.id, { is_default: true })).is_default).toBe(true);
    expect(accepted(await workflows.service.get(world.operator, first.id)).is_default).toBe(false);
    expect(accepted(await create({ workflow_id: 'default' })).workflow_id).toBe(second.id);
    accepted(await workflows.service.update(world.operator, second.id, { is_default: false }));
    expect(await create({ workflow_id: 'default' })).toMatchObject({ code: 'NOT_FOUND', details: { field: 'workflow_id' } });
  });

  test('a step of another workflow, an unknown or archived one is refused, and leaves no task', async () => {
    const [made, other] = [await workflows.define({ name: 'A' }), await workflows.define({ name: 'A' })];
    const before = await world.rows('SELECT id FROM task');
    expect(await create({ workflow_id: made.id, workflow_step_id: other.steps[0]!.id })).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await create({ workflow_id: other.steps[0]!.id })).toMatchObject({ code: 'NOT_FOUND', details: { field: 'workflow_id' } });
    accepted(await workflows.service.archive(world.operator, made.id));
    expect(await create({ workflow_id: made.id })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await world.rows('SELECT id FROM task')).toHaveLength(before.length);
  });

  test('an autopilot child goes through its steps to the end, asked or not, and its parent is told once', async () => {
    const made = await workflows.define(
      { name: 'Plan', on_turn_complete: 'move_to_next' },
      { name: 'Build', requires_signal: true, instructions: 'Build.' },
    );
    const parent = await world.task();
    const actor = world.agent(parent);
    const input = { prompt: 'Do it.', parent_id: parent.id, autopilot: true, blocked_by: [], start_agent: true, workflow_id: made.id };
    const child = accepted(await workflows.tasks.create(actor, input, 'k'));
    const sessionId = child.primary_session_id!;
    const settled = await workflows.end(await world.claim(sessionId));
    if (settled.then !== 'run') throw new Error('the instructions open the next turn');
    accepted(await world.services.turns.signalCompletion(world.agent({ id: child.id, sessionId }), { summary: 'Built.' }));
    await workflows.end(settled.claimed);
    expect(accepted(await workflows.tasks.get(world.operator, child.id))).toMatchObject({
      state: 'completed',
      autopilot: true,
      result: 'Built.',
      workflow_step: { name: 'Build' },
    });
    expect((await world.entries(parent.sessionId)).map(({ kind }) => kind)).toEqual(['alert']);
  });
});
