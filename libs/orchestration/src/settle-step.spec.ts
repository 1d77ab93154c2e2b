import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Workflow } from '@echelon/contracts';
import { waitFor } from '@echelon/testkit';
import { ASK, entriesOfKind } from '../../../test/support/waiting-child.js';
import { Workflows } from '../../../test/support/workflows.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { settle } from './settle.js';

const WAITING = 'SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()';

let world: World;
let workflows: Workflows;
/** Plan leads on, Build leads on after a signal and has instructions, Check rests, Done is last. */
let workflow: Workflow;

const ASKED = { reason: 'tool_ended_turn', callId: 'k', tool: 'ask_parent_question_kandev' } as const;
const FAILURE = { reason: 'error', kind: 'model_request', message: 'the provider is down' } as const;

beforeAll(async () => {
  world = await World.open();
  workflows = new Workflows(world);
  workflow = await workflows.define(
    { name: 'Plan', on_turn_complete: 'move_to_next' },
    { name: 'Build', on_turn_complete: 'move_to_next', requires_signal: true, instructions: 'Build what was planned.' },
    { name: 'Check', instructions: 'Check it.' },
    { name: 'Done' },
  );
});
afterAll(() => world.close());

function signal(task: TestTask) {
  return world.services.turns.signalCompletion(world.agent(task), { summary: 'Built.' });
}

async function childIn(step: string): Promise<{ readonly parent: TestTask; readonly child: TestTask }> {
  const parent = await world.task({ title: 'The parent' });
  return { parent, child: await workflows.taskIn(workflow, step, { parent, autopilot: true, title: 'The child' }) };
}

describe('the rule of a step', () => {
  test('moves the task when its turn completes, in the transaction of the settlement, and says so once [K5]', async () => {
    const task = await workflows.taskIn(workflow, 'Plan');
    const settled = await workflows.end(await world.openTurn(task.sessionId));
    expect(await workflows.stepOf(task)).toBe('Build');
    expect(await workflows.told(task, 'task.moved')).toMatchObject([{ step: 'Build', cause: 'rule', workflow_id: workflow.id }]);
    expect(settled).toMatchObject({ then: 'run', claimed: { turn: { number: 2 }, task: { state: 'in_progress' } } });
  });

  test('the instructions of the step that it enters open its next turn, before what was queued', async () => {
    const task = await workflows.taskIn(workflow, 'Plan');
    const claimed = await world.openTurn(task.sessionId);
    await world.prompt(task.sessionId, 'And this.');
    const settled = await workflows.end(claimed);
    const [instructions] = await entriesOfKind(world, task.sessionId, 'notice');
    expect(instructions).toMatchObject({ state: 'delivered', rank: 0, sender_kind: 'system' });
    expect(instructions?.text).toContain('> Build what was planned.');
    expect(settled).toMatchObject({ then: 'run', claimed: { turn: { opening_entry_id: instructions?.id } } });
  });

  test('that needs a signal moves with it, and not without', async () => {
    const task = await workflows.taskIn(workflow, 'Build');
    expect(await workflows.end(await world.openTurn(task.sessionId))).toEqual({ then: 'released' });
    expect(await workflows.stepOf(task)).toBe('Build');
    const claimed = await world.openTurn(task.sessionId);
    accepted(await signal(task));
    await workflows.end(claimed);
    expect(await workflows.stepOf(task)).toBe('Check');
    expect(await world.taskRow(task.id)).toMatchObject({ state: 'in_progress', result: null });
  });

  test('that leads to a named step goes there, also back', async () => {
    const back = await workflows.define({ name: 'First' }, { name: 'Second', on_turn_complete: 'move_to_step', move_to: 'First' });
    const task = await workflows.taskIn(back, 'Second');
    expect(await workflows.end(await world.openTurn(task.sessionId))).toEqual({ then: 'released' });
    expect(await workflows.stepOf(task)).toBe('First');
    expect(await world.taskRow(task.id)).toMatchObject({ state: 'review' });
  });

  test('that says nothing rests the task where it is', async () => {
    const task = await workflows.taskIn(workflow, 'Check');
    expect(await workflows.end(await world.openTurn(task.sessionId))).toEqual({ then: 'released' });
    expect(await workflows.stepOf(task)).toBe('Check');
    expect(await world.taskRow(task.id)).toMatchObject({ state: 'review' });
  });

  test('does not run after a turn that ended badly, nor after one of another session', async () => {
    const task = await workflows.taskIn(workflow, 'Plan');
    await workflows.end(await world.openTurn(task.sessionId), FAILURE);
    await workflows.end(await world.openTurn(await world.session(task)));
    expect(await workflows.stepOf(task)).toBe('Plan');
  });

  test('waits for open children, whose end opens the turn that moves the task [M15]', async () => {
    const task = await workflows.taskIn(workflow, 'Plan');
    const claimed = await world.openTurn(task.sessionId);
    const child = await world.task({ parent: task });
    await workflows.end(claimed);
    expect(await workflows.stepOf(task)).toBe('Plan');
    await world.move(child, 'cancel');
    const [completed] = await entriesOfKind(world, task.sessionId, 'alert');
    const woken = await world.claim(task.sessionId);
    expect(woken.turn.opening_entry_id).toBe(completed?.id);
    await workflows.end(woken);
    expect(await workflows.stepOf(task)).toBe('Build');
  });
});

describe('a completion signal', () => {
  test('on the last step completes the task, and its parent is told that its children have ended', async () => {
    const { parent, child } = await childIn('Done');
    const claimed = await world.openTurn(child.sessionId);
    accepted(await signal(child));
    await workflows.end(claimed);
    expect(await world.taskRow(child.id)).toMatchObject({ state: 'completed', result: 'Built.', workflow_step_id: expect.any(String) });
    expect(await entriesOfKind(world, parent.sessionId, 'alert')).toMatchObject([{ text: expect.stringContaining('have ended') }]);
  });

  test('on a step before the last does not', async () => {
    const { parent, child } = await childIn('Check');
    const claimed = await world.openTurn(child.sessionId);
    accepted(await signal(child));
    await workflows.end(claimed);
    expect(await world.taskRow(child.id)).toMatchObject({ state: 'review', result: null });
    expect(await entriesOfKind(world, parent.sessionId, 'alert')).toEqual([]);
  });

  test('that a step requires and a turn did not give alerts the parent, folded into one entry [M14]', async () => {
    const { parent, child } = await childIn('Build');
    await workflows.end(await world.openTurn(child.sessionId));
    await workflows.end(await world.openTurn(child.sessionId));
    const alerts = await entriesOfKind(world, parent.sessionId, 'alert');
    expect(alerts).toMatchObject([{ state: 'queued', sender_task_id: child.id }]);
    expect(alerts[0]?.text).toContain('without the completion signal that its step requires');
  });

  test('is missed also where the session goes on, and the parent knows although the next turn is stopped [M14]', async () => {
    const { parent, child } = await childIn('Build');
    const claimed = await world.openTurn(child.sessionId);
    await world.prompt(child.sessionId);
    const settled = await workflows.end(claimed);
    if (settled.then !== 'run') throw new Error('the prompt opens the next turn');
    accepted(await world.services.turns.stop(world.operator, settled.claimed.turn.id));
    await workflows.end(settled.claimed, { reason: 'cancelled', by: 'stop' });
    expect(await entriesOfKind(world, parent.sessionId, 'alert')).toMatchObject([{ state: 'queued', sender_task_id: child.id }]);
  });

  test('is not missed while its children are open, and on a step that requires none [M14]', async () => {
    const { parent, child } = await childIn('Build');
    const claimed = await world.openTurn(child.sessionId);
    await world.task({ parent: child });
    await workflows.end(claimed);
    const resting = await workflows.taskIn(workflow, 'Check', { parent });
    await workflows.end(await world.openTurn(resting.sessionId));
    expect(await entriesOfKind(world, parent.sessionId, 'alert')).toEqual([]);
  });
});

test('the step that chose what an end locks is the one that it is decided by: a change of the workflow comes before both or after both [K5, K11]', async () => {
  const two = await workflows.define({ name: 'A' }, { name: 'B' });
  const parent = await world.task({ title: 'The parent' });
  const child = await workflows.taskIn(two, 'A', { parent, autopilot: true });
  const claimed = await world.openTurn(child.sessionId);
  accepted(await signal(child));
  const keepA = { steps: workflows.input({ name: 'A' }).steps };
  let change: Promise<unknown> = Promise.resolve();
  let changed = false;
  const record = async () => {
    change = workflows.service.update(world.operator, two.id, keepA).then(() => (changed = true));
    await waitFor('the change to be made or to wait', async () => changed || (await world.rows(WAITING)).length > 0);
  };
  await settle(world.transactions, claimed, { stop: { reason: 'completed' }, record }, { yieldToOthers: false });
  await change;
  expect(accepted(await workflows.service.get(world.operator, two.id)).steps).toHaveLength(1);
  expect(await world.taskRow(child.id)).toMatchObject({ state: 'review', result: null });
  expect(await entriesOfKind(world, parent.sessionId, 'alert')).toEqual([]);
});

describe('a turn that asked its parent', () => {
  test('runs no rule, and its signal and the move asked for meanwhile are void [A17]', async () => {
    const { child } = await childIn('Build');
    const claimed = await world.openTurn(child.sessionId);
    accepted(await signal(child));
    expect(accepted(await workflows.move(world.operator, child, workflow, 'Done')).deferred).toBe(true);
    accepted(await world.services.questions.askParent(world.agent(child), ASK, 'k'));
    expect(await workflows.end(claimed, ASKED)).toEqual({ then: 'released' });
    expect(await workflows.stepOf(child)).toBe('Build');
    expect(await world.sessionRow(child.sessionId)).toMatchObject({ state: 'waiting_for_input' });
    expect(await workflows.told(child, 'task.moved')).toEqual([]);
    expect(await workflows.told(child, 'task.move_voided')).toMatchObject([{ cause: 'turn_asked', turn_id: claimed.turn.id }]);
  });

  test('stays one although the operator spoke before it closed; the next turn moves [A17, K6b]', async () => {
    const { child } = await childIn('Plan');
    const claimed = await world.openTurn(child.sessionId);
    accepted(await workflows.move(world.operator, child, workflow, 'Done'));
    accepted(await world.services.questions.askParent(world.agent(child), ASK, 'k'));
    accepted(await world.services.messages.send(world.operator, child.id, { prompt: 'Take A.', delivery_mode: 'queued' }));
    const settled = await workflows.end(claimed, ASKED);
    expect(await workflows.stepOf(child)).toBe('Plan');
    if (settled.then !== 'run') throw new Error('the operator’s prompt opens the next turn');
    await workflows.end(settled.claimed);
    expect(await workflows.stepOf(child)).toBe('Build');
  });

  test('a move that is asked for after the question takes place at once, and its instructions wait for the answer [A17, K6]', async () => {
    const { child } = await childIn('Plan');
    const claimed = await world.openTurn(child.sessionId);
    accepted(await world.services.questions.askParent(world.agent(child), ASK, 'k'));
    expect(accepted(await workflows.move(world.operator, child, workflow, 'Check')).deferred).toBe(false);
    await workflows.end(claimed, ASKED);
    expect(await workflows.stepOf(child)).toBe('Check');
    expect(await world.tryClaim(child.sessionId)).toBeNull();
    expect(await entriesOfKind(world, child.sessionId, 'notice')).toMatchObject([{ state: 'queued' }]);
  });
});

test('a task without a workflow behaves as before: no step, and a signal completes it', async () => {
  const task = await world.task();
  const claimed = await world.openTurn(task.sessionId);
  accepted(await signal(task));
  await workflows.end(claimed);
  expect(await world.taskRow(task.id)).toMatchObject({ state: 'completed', workflow_step_id: null });
});
