import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { accepted, World } from '../../../test/support/world.js';
import { alertParent, lockFamilies } from './ending.js';
import { TaskService } from './task.service.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** What events say of an entry, in their order. */
async function told(entryId: string | undefined): Promise<readonly string[]> {
  const rows = await world.rows<{ state: string }>(
    `SELECT payload::jsonb->>'state' AS state FROM event WHERE type = 'queue.changed' AND payload::jsonb->>'entry_id' = $1 ORDER BY id`,
    [entryId],
  );
  return rows.map(({ state }) => state);
}

test('a decision that an agent has read by asking again is taken back from its queue, and that is told', async () => {
  const task = await world.task({ runtime: 'external' });
  const ask = () => world.services.questions.askUser(world.agent(task), { questions: [{ prompt: 'Which?' }] }, 'call-1');
  const { id } = accepted(await ask());
  accepted(await world.services.questions.answerUser(world.operator, id, { answers: { q1: 'This.' }, rejected: false }));
  accepted(await ask());
  const [notice] = await world.entries(task.sessionId);
  expect(notice).toMatchObject({ kind: 'notice', state: 'cancelled' });
  expect(await told(notice?.id)).toEqual(['queued', 'cancelled']);
});

test('a prompt that changes before its task starts is told as a change of the entry', async () => {
  const tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
  const input = { workspace_id: world.workspaceId, prompt: 'Build.', autopilot: false, blocked_by: [], start_agent: true };
  const task = accepted(await tasks.create(world.operator, input, null));
  accepted(await tasks.update(world.operator, task.id, { prompt: 'Build it.' }));
  const [entry] = await world.entries(task.primary_session_id ?? '');
  expect(entry).toMatchObject({ text: 'Build it.' });
  expect(await told(entry?.id)).toEqual(['queued', 'queued']);
});

test('an alert that still waits and is told anew is told as a change', async () => {
  const parent = await world.task();
  const child = await world.task({ parent });
  for (const detail of ['first', 'second'])
    await world.run(async (unit) => {
      const task = (await lockFamilies(unit, [child.id])).tasks.get(child.id);
      if (task) await alertParent(unit, task, { turnId: child.id, outcome: 'error', detail });
    });
  const [alert] = await world.entries(parent.sessionId);
  expect(await told(alert?.id)).toEqual(['queued', 'queued']);
});

test('an alert about a child that is deleted is taken back and told, and leaves its parent nothing to run', async () => {
  const tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
  const parent = await world.task();
  const child = await world.task({ parent });
  await world.task({ parent });
  await world.run(async (unit) => {
    const task = (await lockFamilies(unit, [child.id])).tasks.get(child.id);
    if (task) await alertParent(unit, task, { turnId: child.id, outcome: 'error', detail: 'first' });
  });
  expect((await world.sessionRow(parent.sessionId)).runnable).toBe(true);
  accepted(await tasks.delete(world.operator, child.id, { cascade: false }));
  const [alert] = await world.entries(parent.sessionId);
  expect(await told(alert?.id)).toEqual(['queued', 'cancelled']);
  expect((await world.sessionRow(parent.sessionId)).runnable).toBe(false);
});
