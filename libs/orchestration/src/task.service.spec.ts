import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { UpdateTask } from '@echelon/contracts';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { newId } from '@echelon/persistence';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { TaskService } from './task.service.js';

let world: World;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  tasks = new TaskService(world.database, world.transactions, { ...DEFAULT_LIMITS, creates_per_tree_minute: 1_000 });
});
afterAll(() => world.close());

const ASK = { questions: [{ prompt: 'Which?' }] };

async function askingChild(parent: TestTask): Promise<TestTask & { readonly questionId: string }> {
  const child = await world.task({ parent, autopilot: true });
  const { turn } = await world.openTurn(child.sessionId);
  const asked = await world.services.questions.askParent(world.agent(child, { turnId: turn.id }), ASK, newId());
  return { ...child, questionId: accepted(asked).question_id };
}

describe('a change', () => {
  test('that names autopilot is refused by name and nothing of it is applied [F5]', async () => {
    const task = await world.task({ autopilot: true, title: 'Before' });
    const changes = { title: 'After', state: 'completed', autopilot: false } as UpdateTask;
    expect(await tasks.update(world.operator, task.id, changes)).toMatchObject({
      code: 'FIELD_IMMUTABLE',
      details: { field: 'autopilot' },
    });
    expect(await world.taskRow(task.id)).toMatchObject({ title: 'Before', autopilot: true, state: 'ready' });
    const unknown = { title: 'After', depth: 3 } as UpdateTask;
    expect(await tasks.update(world.operator, task.id, unknown)).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'depth' } });
    expect((await world.taskRow(task.id)).title).toBe('Before');
  });

  test('of the mode is refused by the database itself, from SQL and from Prisma [F6]', async () => {
    const task = await world.task({ autopilot: true });
    await expect(world.rows('UPDATE task SET autopilot = false WHERE id = $1', [task.id])).rejects.toMatchObject({
      constraint: 'task_autopilot_immutable',
    });
    const { prisma } = world.database;
    await expect(prisma.task.update({ where: { id: task.id }, data: { autopilot: false } })).rejects.toThrow(/fixed at creation/);
    expect((await world.taskRow(task.id)).autopilot).toBe(true);
  });

  test('of the title makes it manual and raises its revision', async () => {
    const task = await world.task();
    accepted(await tasks.update(world.operator, task.id, { title: '  New\u0000 ' }));
    expect(await world.taskRow(task.id)).toMatchObject({ title: 'New\ufffd', title_source: 'manual', title_revision: 1 });
    expect(await tasks.update(world.operator, task.id, { title: 'x'.repeat(61) })).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'title', max: 60, actual: 61 },
    });
  });

  test('of the prompt reaches the waiting first entry, and is refused with all else once the task has started', async () => {
    const prompt = { prompt: 'First.', autopilot: false, blocked_by: [], start_agent: true, workspace_id: world.workspaceId };
    const task = accepted(await tasks.create(world.operator, prompt, null));
    const sessionId = task.primary_session_id ?? '';
    accepted(await tasks.update(world.operator, task.id, { prompt: 'Better.' }));
    expect(await world.entries(sessionId)).toMatchObject([{ text: 'Better.', state: 'queued' }]);
    await world.claim(sessionId);
    expect(await tasks.update(world.operator, task.id, { title: 'Late', prompt: 'Too late.' })).toMatchObject({
      code: 'STATE_CONFLICT',
      details: { field: 'prompt' },
    });
    expect(await world.taskRow(task.id)).toMatchObject({ prompt: 'Better.', title_revision: 0 });
  });

  test('of the state is an operator’s, ends the sessions and is told once', async () => {
    const parent = await world.task();
    const task = await world.task({ parent });
    const claimed = await world.openTurn(task.sessionId);
    expect(await tasks.update(world.agent(parent), task.id, { state: 'completed' })).toMatchObject({
      code: 'FORBIDDEN',
      details: { field: 'state' },
    });
    expect(accepted(await tasks.update(world.operator, task.id, { state: 'completed' }))).toMatchObject({ state: 'completed' });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'completed', lease_owner: null });
    expect(await world.rows('SELECT status, outcome FROM turn WHERE id = $1', [claimed.turn.id])).toEqual([
      { status: 'finished', outcome: 'stopped' },
    ]);
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 0 });
    const told = await world.rows(`SELECT payload FROM event WHERE task_id = $1 AND type = 'task.updated'`, [task.id]);
    expect(told.filter((row) => JSON.stringify(row).includes('completed'))).toHaveLength(1);
  });

  test('to the state that the task has already changes nothing; from an ended state it is refused', async () => {
    const task = await world.task({ state: 'completed' });
    expect(accepted(await tasks.update(world.operator, task.id, { state: 'completed' })).state).toBe('completed');
    expect(await tasks.update(world.operator, task.id, { state: 'failed', title: 'No' })).toMatchObject({ code: 'TASK_TERMINAL' });
    expect((await world.taskRow(task.id)).title).toBe('A task');
  });

  test('to review is refused while a turn is open, whether a session runs it or nobody holds it', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    expect(await tasks.update(world.operator, task.id, { state: 'review' })).toMatchObject({ code: 'STATE_CONFLICT' });
    await world.handOver(claimed);
    expect(await tasks.update(world.operator, task.id, { state: 'review' })).toMatchObject({ code: 'STATE_CONFLICT' });
  });

  test('is open to an agent for its own task and those below it only', async () => {
    const parent = await world.task();
    const [child, sibling] = [await world.task({ parent }), await world.task({ parent })];
    accepted(await tasks.update(world.agent(child), child.id, { title: 'Mine' }));
    accepted(await tasks.update(world.agent(parent), child.id, { title: 'Below me' }));
    for (const other of [sibling, parent])
      expect(await tasks.update(world.agent(child), other.id, { title: 'No' })).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('reading', () => {
  test('pages go from new to old without a gap or a repetition, and a broken cursor is refused', async () => {
    const parent = await world.task();
    const made: string[] = [];
    for (let index = 0; index < 7; index++) made.push((await world.task({ parent })).id);
    await world.rows('UPDATE task SET created_at = $2 WHERE id = ANY($1::uuid[])', [made.slice(2, 5), new Date(0)]);
    const seen: string[] = [];
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
      const page = accepted(await tasks.list(world.operator, { limit: 2, parent_id: parent.id, ...(cursor ? { cursor } : {}) }));
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    }
    expect(seen.slice(-3).toSorted()).toEqual(made.slice(2, 5).toSorted());
    expect(seen.toSorted()).toEqual(made.toSorted());
    for (const cursor of ['', 'x', Buffer.from('["2026-01-01T00:00:00.000Z"]').toString('base64url')])
      expect(await tasks.list(world.operator, { limit: 2, cursor })).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'cursor' } });
  });

  test('filters by state, roots, title and archive', async () => {
    const root = await world.task({ title: 'Filter 100%_sure' });
    const child = await world.task({ parent: root, title: 'Filter child', state: 'completed' });
    const archived = await world.task({ title: 'Filter gone' });
    accepted(await tasks.archive(world.operator, archived.id));
    const ids = async (query: object) =>
      accepted(await tasks.list(world.operator, { limit: 200, query: 'filter', ...query })).items.map(({ id }) => id);
    expect((await ids({})).toSorted()).toEqual([root.id, child.id].toSorted());
    expect(await ids({ roots_only: true })).toEqual([root.id]);
    expect(await ids({ state: 'completed' })).toEqual([child.id]);
    expect(await ids({ query: '100%_' })).toEqual([root.id]);
    expect((await ids({ include_archived: true })).toSorted()).toEqual([root.id, child.id, archived.id].toSorted());
  });

  test('related tasks are the parent, the children, the siblings and the dependencies', async () => {
    const parent = await world.task();
    const [self, sibling] = [await world.task({ parent }), await world.task({ parent })];
    const child = await world.task({ parent: self });
    const blocker = await world.task();
    await world.rows('INSERT INTO task_dependency (task_id, blocked_by_id) VALUES ($1, $2), ($3, $1)', [self.id, blocker.id, child.id]);
    const related = accepted(await tasks.listRelated(world.agent(child), self.id));
    expect(related.parent?.id).toBe(parent.id);
    expect([related.children, related.siblings, related.blocked_by, related.blocks].map((all) => all.map(({ id }) => id))).toEqual([
      [child.id],
      [sibling.id],
      [blocker.id],
      [child.id],
    ]);
  });

  test('a task waits for clarification while its question is open, for permission while an approval is; the question outranks [V1]', async () => {
    const parent = await world.task();
    const child = await askingChild(parent);
    const shown = async () => accepted(await tasks.get(world.operator, child.id)).pending_action;
    expect(await shown()).toBe('clarification');
    const [turn] = await world.rows<{ id: string }>('SELECT id FROM turn WHERE session_id = $1', [child.sessionId]);
    await world.rows('INSERT INTO approval (id, session_id, turn_id, tool_call_id) VALUES ($1, $2, $3, $1)', [
      newId(),
      child.sessionId,
      turn?.id,
    ]);
    expect(await shown()).toBe('clarification');
    await world.rows(`UPDATE message SET metadata = metadata || '{"status": "answered"}' WHERE id = $1`, [child.questionId]);
    expect(await shown()).toBe('permission');
    await world.rows(`UPDATE approval SET state = 'denied' WHERE session_id = $1`, [child.sessionId]);
    expect(await shown()).toBeNull();
  });

  test('an unknown or shortened id finds nothing', async () => {
    const task = await world.task();
    for (const id of [newId(), task.id.slice(0, 8), 'self', ''])
      expect(await tasks.get(world.operator, id)).toMatchObject({ code: 'NOT_FOUND' });
  });
});
