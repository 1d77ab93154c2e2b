import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Workflow } from '@echelon/contracts';
import { newId } from '@echelon/persistence';
import { entriesOfKind, waitingChild } from '../../../test/support/waiting-child.js';
import { Workflows } from '../../../test/support/workflows.js';
import { accepted, World } from '../../../test/support/world.js';

let world: World;
let workflows: Workflows;
let workflow: Workflow;

beforeAll(async () => {
  world = await World.open();
  workflows = new Workflows(world);
  workflow = await workflows.define(
    { name: 'Plan' },
    { name: 'Build', instructions: 'Build it.' },
    { name: 'Check', instructions: 'Check it.' },
  );
});
afterAll(() => world.close());

describe('who moves a task', () => {
  test('its own sessions, its direct parent and operators, nobody else', async () => {
    const root = await world.task();
    const parent = await world.task({ parent: root });
    const task = await workflows.taskIn(workflow, 'Plan', { parent });
    const sibling = await world.task({ parent });
    for (const [actor, step] of [
      [world.agent(task), 'Build'],
      [world.agent(parent), 'Check'],
      [world.operator, 'Plan'],
    ] as const) {
      accepted(await workflows.move(actor, task, workflow, step));
      expect(await workflows.stepOf(task)).toBe(step);
    }
    for (const stranger of [root, sibling])
      expect(await workflows.move(world.agent(stranger), task, workflow, 'Build')).toMatchObject({ code: 'FORBIDDEN' });
    expect(await workflows.stepOf(task)).toBe('Plan');
  });

  test('an agent of another workspace finds no such task', async () => {
    const task = await workflows.taskIn(workflow);
    const foreign = { ...world.agent(await world.task()), workspaceId: newId() };
    expect(await workflows.move(foreign, task, workflow, 'Build')).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('a task that has ended or is archived is not moved', async () => {
    const task = await workflows.taskIn(workflow);
    await world.move(task, 'cancel');
    expect(await workflows.move(world.operator, task, workflow, 'Build')).toMatchObject({ code: 'TASK_TERMINAL' });
    const archived = await workflows.taskIn(workflow);
    accepted(await workflows.tasks.archive(world.operator, archived.id));
    expect(await workflows.move(world.operator, archived, workflow, 'Build')).toMatchObject({ code: 'TASK_ARCHIVED' });
  });
});

describe('where a task moves', () => {
  test('to a step that is in use, of its own workspace, of the workflow that was named', async () => {
    const task = await workflows.taskIn(workflow);
    const other = await workflows.define({ name: 'Only' });
    const [only] = other.steps;
    const move = (input: { workflow_step_id: string; workflow_id?: string }) => workflows.tasks.moveToStep(world.operator, task.id, input);
    expect(await move({ workflow_step_id: newId() })).toMatchObject({ code: 'NOT_FOUND', details: { field: 'workflow_step_id' } });
    expect(await move({ workflow_step_id: only!.id, workflow_id: workflow.id })).toMatchObject({ code: 'INVALID_INPUT' });
    accepted(await move({ workflow_step_id: only!.id, workflow_id: other.id }));
    expect(await workflows.stepOf(task)).toBe('Only');
    accepted(await workflows.move(world.operator, task, workflow, 'Plan'));
    accepted(await workflows.service.archive(world.operator, other.id));
    expect(await move({ workflow_step_id: only!.id })).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('`default` names a workflow as its id does: a step of another is refused, and so is the name where none is it', async () => {
    const task = await workflows.taskIn(workflow);
    const move = (name: string) =>
      workflows.tasks.moveToStep(world.operator, task.id, { workflow_id: 'default', workflow_step_id: stepOf(name) });
    const stepOf = (name: string) => workflow.steps.find((step) => step.name === name)!.id;
    expect(await move('Build')).toMatchObject({ code: 'NOT_FOUND', details: { field: 'workflow_id' } });
    const usual = accepted(await workflows.service.create(world.operator, { ...workflows.input({ name: 'Only' }), is_default: true }));
    expect(await move('Build')).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'workflow_step_id' } });
    accepted(await workflows.service.update(world.operator, usual.id, { is_default: false }));
    accepted(await workflows.service.update(world.operator, workflow.id, { is_default: true }));
    accepted(await move('Build'));
    expect(await workflows.stepOf(task)).toBe('Build');
    accepted(await workflows.service.update(world.operator, workflow.id, { is_default: false }));
  });

  test('also a task that had no workflow', async () => {
    const task = await world.task();
    expect(accepted(await workflows.move(world.operator, task, workflow, 'Build'))).toMatchObject({
      workflow_id: workflow.id,
      workflow_step: { name: 'Build' },
      deferred: false,
    });
  });

  test('the database itself links no task to a step of another workspace', async () => {
    const task = await workflows.taskIn(workflow);
    const [elsewhere, foreignWorkflow, foreignStep] = [newId(), newId(), newId()];
    await world.rows('INSERT INTO workspace (id, name) VALUES ($1, $2)', [elsewhere, `Elsewhere ${elsewhere}`]);
    await world.rows(`INSERT INTO workflow (id, workspace_id, name) VALUES ($1, $2, 'Foreign')`, [foreignWorkflow, elsewhere]);
    await world.rows(`INSERT INTO workflow_step (id, workspace_id, workflow_id, position, name) VALUES ($1, $2, $3, 1, 'Foreign')`, [
      foreignStep,
      elsewhere,
      foreignWorkflow,
    ]);
    await expect(world.rows('UPDATE task SET workflow_step_id = $2 WHERE id = $1', [task.id, foreignStep])).rejects.toThrow(
      /task_workflow_step_fkey/,
    );
    expect(await workflows.tasks.moveToStep(world.operator, task.id, { workflow_step_id: foreignStep })).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('entering a step', () => {
  test('its instructions open the next turn of a session that has started, once, and wake it', async () => {
    const task = await workflows.taskIn(workflow);
    await world.endTurn(await world.openTurn(task.sessionId));
    accepted(await workflows.move(world.operator, task, workflow, 'Build'));
    expect(world.announced.at(-1)).toBe(task.sessionId);
    accepted(await workflows.move(world.operator, task, workflow, 'Build'));
    const notices = await entriesOfKind(world, task.sessionId, 'notice');
    expect(notices).toHaveLength(1);
    expect((await world.claim(task.sessionId)).turn.opening_entry_id).toBe(notices[0]?.id);
  });

  test('a task that has not started is told by its first prompt alone', async () => {
    const task = await workflows.taskIn(workflow);
    accepted(await workflows.move(world.operator, task, workflow, 'Build'));
    expect(await world.entries(task.sessionId)).toEqual([]);
  });

  test('instructions that still wait are withdrawn when the task leaves their step', async () => {
    const task = await workflows.taskIn(workflow);
    await world.endTurn(await world.openTurn(task.sessionId));
    accepted(await workflows.move(world.operator, task, workflow, 'Build'));
    accepted(await workflows.move(world.operator, task, workflow, 'Check'));
    expect(await entriesOfKind(world, task.sessionId, 'notice')).toMatchObject([
      { state: 'cancelled', cause: 'step_left' },
      { state: 'queued', text: expect.stringContaining('> Check it.') },
    ]);
    accepted(await workflows.move(world.operator, task, workflow, 'Plan'));
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ runnable: false });
  });

  test('a task that waits for its parent moves, and stays waiting [K6]', async () => {
    const { child } = await waitingChild(world);
    accepted(await workflows.move(world.operator, child, workflow, 'Build'));
    expect(await workflows.stepOf(child)).toBe('Build');
    expect(await world.tryClaim(child.sessionId)).toBeNull();
    expect(await world.sessionRow(child.sessionId)).toMatchObject({ state: 'waiting_for_input' });
  });
});

describe('a move while the turn runs', () => {
  test('is deferred, says so, and takes place when the turn ends', async () => {
    const task = await workflows.taskIn(workflow);
    const claimed = await world.openTurn(task.sessionId);
    const answer = accepted(await workflows.move(world.agent(task), task, workflow, 'Build'));
    expect(answer).toMatchObject({ deferred: true, workflow_step: { name: 'Plan' } });
    expect(await workflows.end(claimed)).toMatchObject({ then: 'run', claimed: { turn: { number: 2 } } });
    expect(await workflows.stepOf(task)).toBe('Build');
    expect(await workflows.told(task, 'task.moved')).toMatchObject([{ step: 'Build', cause: 'deferred_request' }]);
  });

  test('the last word counts, and the present step takes it back', async () => {
    const task = await workflows.taskIn(workflow);
    const claimed = await world.openTurn(task.sessionId);
    accepted(await workflows.move(world.operator, task, workflow, 'Build'));
    accepted(await workflows.move(world.operator, task, workflow, 'Check'));
    expect(accepted(await workflows.move(world.operator, task, workflow, 'Plan')).deferred).toBe(false);
    await workflows.end(claimed);
    expect(await workflows.stepOf(task)).toBe('Plan');
    expect(await workflows.told(task, 'task.moved')).toEqual([]);
  });

  test('the last word counts also after another session has become the primary one, whether it runs or not', async () => {
    for (const runs of [false, true]) {
      const task = await workflows.taskIn(workflow);
      const claimed = await world.openTurn(task.sessionId);
      accepted(await workflows.move(world.operator, task, workflow, 'Build'));
      const second = accepted(await workflows.tasks.spawnSession(world.operator, task.id, { kind: 'task', make_primary: true }, null));
      const next = runs ? await world.claim(second.id) : null;
      expect(accepted(await workflows.move(world.operator, task, workflow, 'Check')).deferred).toBe(runs);
      await workflows.end(claimed);
      if (next) await workflows.end(next);
      expect(await workflows.stepOf(task)).toBe('Check');
      expect(await workflows.told(task, 'task.moved')).toMatchObject([{ step: 'Check' }]);
    }
  });

  test('takes place however the turn ends: badly, stopped while parked, or with its session', async () => {
    const failed = await workflows.taskIn(workflow);
    const claimed = await world.openTurn(failed.sessionId);
    accepted(await workflows.move(world.operator, failed, workflow, 'Build'));
    await workflows.end(claimed, { reason: 'error', kind: 'model_request', message: 'down' });
    const parked = await workflows.taskIn(workflow);
    const waiting = await world.openTurn(parked.sessionId);
    await world.rows(`UPDATE turn SET status = 'waiting_user', parked_for = 'user_answer' WHERE id = $1`, [waiting.turn.id]);
    await world.rows(`UPDATE session SET state = 'parked', lease_owner = NULL, lease_until = NULL WHERE id = $1`, [parked.sessionId]);
    accepted(await workflows.move(world.operator, parked, workflow, 'Build'));
    accepted(await world.services.turns.stop(world.operator, waiting.turn.id));
    const stopped = await workflows.taskIn(workflow);
    await world.openTurn(stopped.sessionId);
    accepted(await workflows.move(world.operator, stopped, workflow, 'Build'));
    accepted(await workflows.tasks.stop(world.operator, stopped.id, { cascade: false }));
    for (const task of [failed, parked, stopped]) expect(await workflows.stepOf(task)).toBe('Build');
  });

  test('is void when the task ends with the turn', async () => {
    const task = await workflows.taskIn(workflow);
    await world.openTurn(task.sessionId);
    accepted(await workflows.move(world.operator, task, workflow, 'Build'));
    await world.move(task, 'cancel');
    expect(await workflows.told(task, 'task.move_voided')).toMatchObject([{ cause: 'task_over' }]);
    expect(await workflows.told(task, 'task.moved')).toEqual([]);
  });

  test('goes before the rule of the step and before a signal on the last one', async () => {
    const ruled = await workflows.define({ name: 'One', on_turn_complete: 'move_to_next' }, { name: 'Two' }, { name: 'Three' });
    const [one, last] = [await workflows.taskIn(ruled, 'One'), await workflows.taskIn(ruled, 'Three')];
    for (const task of [one, last]) {
      const claimed = await world.openTurn(task.sessionId);
      accepted(await world.services.turns.signalCompletion(world.agent(task), { summary: 'Done.' }));
      accepted(await workflows.move(world.operator, task, ruled, task === one ? 'Three' : 'Two'));
      await workflows.end(claimed);
    }
    expect([await workflows.stepOf(one), await workflows.stepOf(last)]).toEqual(['Three', 'Two']);
    expect(await world.taskRow(last.id)).toMatchObject({ state: 'review', result: null });
  });

  test('and the end of the turn, at the same moment, make one move in every order, never two and never none [K5]', async () => {
    for (let round = 0; round < 12; round++) {
      const task = await workflows.taskIn(workflow);
      const claimed = await world.openTurn(task.sessionId);
      const [moved] = await Promise.all([workflows.move(world.operator, task, workflow, 'Build'), workflows.end(claimed)]);
      const { deferred } = accepted(moved);
      expect(await workflows.stepOf(task)).toBe('Build');
      expect(await workflows.told(task, 'task.moved')).toMatchObject([{ cause: deferred ? 'deferred_request' : 'request' }]);
      const notices = await entriesOfKind(world, task.sessionId, 'notice');
      expect(notices).toHaveLength(1);
    }
  });
});
