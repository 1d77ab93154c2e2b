/** Agents over ACP that are stopped, or die, or whose worker does. */
import type { Task } from '@echelon/contracts';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { findViolations } from '../support/invariants.js';
import { AcpWorld, type Turns } from './acp-world.js';

jest.setTimeout(240_000);

let world: AcpWorld;
beforeAll(async () => {
  world = await AcpWorld.open();
});
afterAll(() => world.close());

const WORK = { do: 'work' } as const;
const GO_ON = { do: 'say', text: 'What was left is done.' } as const;

/** A task whose agent is in the middle of its first turn. */
async function working(turns: Turns): Promise<Task> {
  const task = await world.task(turns);
  await world.waitFor('the prompt', () => world.hasPrompt(task, 1));
  return task;
}

/** The first turn was interrupted, one notice says so, and the prompt was not sent again. */
async function expectInterrupted(task: Task, why: RegExp): Promise<void> {
  const turns = await world.ended(task.primary_session_id, 2);
  expect(turns.map(({ outcome }) => outcome)).toEqual(['interrupted', 'completed']);
  expect(turns[0]?.outcome_detail).toMatch(why);
  const { items } = await world.api.sessions.listQueue(task.primary_session_id!);
  expect(items).toEqual([]);
  const entries = 'SELECT kind, state FROM queue_entry WHERE session_id = $1 ORDER BY "order"';
  expect(await world.story.rows(entries, [task.primary_session_id])).toEqual([
    { kind: 'prompt', state: 'delivered' },
    { kind: 'notice', state: 'delivered' },
  ]);
  expect(world.promptOf(task, 2)).toContain('was interrupted in its middle');
  expect(world.promptOf(task, 2)).not.toContain('[[turns]]');
  expect(await findViolations(world.story.database)).toEqual({});
}

describe('an agent over ACP', () => {
  test.each([
    ['that ends when it is told to', WORK],
    ['that is deaf', { ...WORK, deaf: true }],
  ])('%s is stopped with its turn, and what it had said is kept [K18]', async (_title, work) => {
    const task = await working([[work]]);
    const { current_turn_id } = await world.api.sessions.get(task.primary_session_id!);
    await world.api.turns.stop(current_turn_id!);
    expect(await world.ended(task.primary_session_id)).toMatchObject([{ outcome: 'stopped' }]);
    expect(await world.said(task.primary_session_id)).toEqual(['I work.']);
    expect(world.isWorking(task)).toBe(false);
  });

  test('that crashes in its turn interrupts it, with one notice, and its prompt is not sent again', async () => {
    const task = await world.task([[{ do: 'say', text: 'I begin.' }, { do: 'begin', tool: 'build' }, { do: 'crash' }], [GO_ON]]);
    await expectInterrupted(task, /its agent ended with code 3/);
    const call = 'SELECT name, state FROM tool_call WHERE session_id = $1';
    expect(await world.story.rows(call, [task.primary_session_id])).toEqual([{ name: 'build', state: 'unknown' }]);
  });

  test('that crashes again over the notice comes to rest', async () => {
    const task = await world.task([[{ do: 'crash' }], [{ do: 'crash' }], [GO_ON]]);
    const turns = await world.ended(task.primary_session_id, 2);
    expect(turns.map(({ outcome }) => outcome)).toEqual(['interrupted', 'interrupted']);
    expect(await world.api.tasks.get(task.id)).toMatchObject({ state: 'review' });
    expect(await world.api.sessions.listQueue(task.primary_session_id!)).toMatchObject({ items: [] });
  });

  test('whose worker is killed ends with it, and its turn is interrupted [K12, K21]', async () => {
    const task = await working([[{ ...WORK, deaf: true }], [GO_ON]]);
    expect(world.isWorking(task)).toBe(true);
    await world.node.program.kill('SIGKILL');
    await world.waitFor('the end of the agent', () => !world.isWorking(task));
    await world.start();
    await expectInterrupted(task, /its worker ended in the middle of it/);
  });

  test('whose worker is told to end gets the hand-over time, and then its turn is interrupted [K23]', async () => {
    const task = await working([[WORK], [GO_ON]]);
    expect(await world.node.program.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(world.isWorking(task)).toBe(false);
    await world.start();
    await expectInterrupted(task, /its worker had to end/);
  });
});
