import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { UpdateTask } from '@echelon/contracts';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { newId, setStopping } from '@echelon/persistence';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { TaskService } from './task.service.js';
import { resumeCascades } from './task-stop.js';

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

async function questionStatus(id: string): Promise<{ status: string; cause: string | null }> {
  const question = accepted(await world.services.questions.get(world.operator, id));
  if (!('parent_task_id' in question)) throw new Error('not a parent question');
  return { status: question.status, cause: question.cause };
}

async function auditOf(taskId: string): Promise<readonly string[]> {
  const rows = await world.rows<{ action: string }>('SELECT action FROM audit WHERE subject = $1 ORDER BY created_at, id', [taskId]);
  return rows.map(({ action }) => action);
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

  test('to review is refused while a session runs', async () => {
    const task = await world.task();
    await world.openTurn(task.sessionId);
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

describe('stopping a task', () => {
  test('cancels its sessions, closes its turn and leaves it in review; a second time nothing is running', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    expect(accepted(await tasks.stop(world.operator, task.id, { cascade: false }))).toEqual({
      task_id: task.id,
      status: 'stopped',
      descendants: [],
    });
    expect(await world.taskRow(task.id)).toMatchObject({ state: 'review', ended_at: null });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'cancelled', lease_owner: null });
    expect(await world.rows('SELECT outcome FROM turn WHERE id = $1', [claimed.turn.id])).toEqual([{ outcome: 'stopped' }]);
    expect(accepted(await tasks.stop(world.operator, task.id, { cascade: false })).status).toBe('not_running');
    expect(await auditOf(task.id)).toEqual(['task.stop', 'task.stop']);
  });

  test('makes its own question stale, and its children’s questions too, with a notice to them [S3, S4]', async () => {
    const parent = await world.task();
    const middle = await askingChild(parent);
    const leaf = await askingChild(middle);
    accepted(await tasks.stop(world.agent(parent), middle.id, { cascade: false }));
    expect(await questionStatus(middle.questionId)).toEqual({ status: 'stale', cause: 'session_ended' });
    expect(await questionStatus(leaf.questionId)).toEqual({ status: 'stale', cause: 'parent_ended' });
    const notices = (await world.entries(leaf.sessionId)).filter(({ kind }) => kind === 'notice');
    expect(notices).toMatchObject([{ state: 'queued', rank: 0 }]);
    expect(accepted(await tasks.get(world.operator, middle.id)).pending_action).toBeNull();
  });

  test('is for an operator and the direct parent', async () => {
    const root = await world.task();
    const middle = await world.task({ parent: root });
    const leaf = await world.task({ parent: middle });
    const sibling = await world.task({ parent: middle });
    for (const stranger of [root, sibling, leaf])
      expect(await tasks.stop(world.agent(stranger), leaf.id, { cascade: true })).toMatchObject({ code: 'NOT_DIRECT_PARENT' });
    expect(accepted(await tasks.stop(world.agent(middle), leaf.id, { cascade: false })).status).toBe('stopped');
  });

  test('lists what is below, and stops it only with cascade [T7]', async () => {
    const root = await world.task();
    const top = await world.task({ parent: root });
    const middle = await world.task({ parent: top });
    const ended = await world.task({ parent: top, state: 'completed' });
    const leaves = [await world.task({ parent: middle }), await world.task({ parent: ended })];
    const below = [middle, ...leaves].map(({ id }) => id);
    const alone = accepted(await tasks.stop(world.agent(root), top.id, { cascade: false }));
    expect({ ...alone, descendants: [...alone.descendants].toSorted() }).toEqual({
      task_id: top.id,
      status: 'stopped',
      descendants: below.toSorted(),
    });
    expect((await world.sessionRow(middle.sessionId)).state).toBe('created');

    expect(accepted(await tasks.stop(world.agent(root), top.id, { cascade: true })).status).toBe('stopped');
    for (const { id, sessionId } of [middle, ...leaves]) {
      expect((await world.sessionRow(sessionId)).state).toBe('cancelled');
      expect(await world.taskRow(id)).toMatchObject({ state: 'review', stopping: false });
    }
    expect((await world.sessionRow(root.sessionId)).state).toBe('created');
    expect(accepted(await tasks.stop(world.operator, top.id, { cascade: true })).status).toBe('not_running');
  });

  test('with cascade lets no child escape that is created meanwhile [K20]', async () => {
    const root = await world.task();
    const top = await world.task({ parent: root });
    const middles = await Promise.all(Array.from({ length: 4 }, () => world.task({ parent: top })));
    const leaves = await Promise.all(middles.map((parent) => world.task({ parent })));
    const prompt = { prompt: 'More.', autopilot: false, blocked_by: [], start_agent: true };
    const storm = [...leaves, ...middles, top].flatMap((task) =>
      Array.from({ length: 3 }, () => tasks.create(world.agent(task), { ...prompt, parent_id: task.id }, null)),
    );
    const [stopped] = await Promise.all([tasks.stop(world.operator, top.id, { cascade: true }), ...storm]);
    expect(accepted(stopped).status).toBe('stopped');
    const live = await world.rows(
      `WITH RECURSIVE below(id) AS (SELECT $1::uuid UNION ALL SELECT t.id FROM task t JOIN below b ON t.parent_id = b.id)
       SELECT s.id FROM below JOIN session s ON s.task_id = below.id WHERE s.ended_at IS NULL`,
      [top.id],
    );
    expect(live).toEqual([]);
    expect(await world.rows('SELECT id FROM task WHERE stopping')).toEqual([]);
  });

  test('with cascade is finished by the sweep where its process died', async () => {
    const top = await world.task();
    const leaf = await world.task({ parent: top });
    await world.run((unit) => setStopping(unit, [top.id], true));
    expect(await resumeCascades(world.database, world.transactions)).toBe(0);
    await world.rows(`UPDATE task SET updated_at = now() - interval '1 minute' WHERE id = $1`, [top.id]);
    expect(await resumeCascades(world.database, world.transactions)).toBe(1);
    expect((await world.sessionRow(leaf.sessionId)).state).toBe('cancelled');
    expect((await world.taskRow(top.id)).stopping).toBe(false);
  });
});

describe('archiving a task', () => {
  test('ends its sessions and makes its question and its children’s questions stale [S3, S4]', async () => {
    const parent = await world.task();
    const middle = await askingChild(parent);
    const leaf = await askingChild(middle);
    expect(accepted(await tasks.archive(world.agent(parent), middle.id))).toMatchObject({ already_archived: false, state: 'review' });
    expect((await world.sessionRow(middle.sessionId)).state).toBe('cancelled');
    expect(await questionStatus(middle.questionId)).toEqual({ status: 'stale', cause: 'task_archived' });
    expect(await questionStatus(leaf.questionId)).toEqual({ status: 'stale', cause: 'parent_archived' });
    expect((await world.entries(leaf.sessionId)).filter(({ kind }) => kind === 'notice')).toHaveLength(1);
    expect((await world.taskRow(parent.id)).open_children).toBe(0);
  });

  test('a second time changes nothing, and tells nobody', async () => {
    const task = await world.task();
    const first = accepted(await tasks.archive(world.operator, task.id));
    const second = accepted(await tasks.archive(world.operator, task.id));
    expect(second).toEqual({ ...first, already_archived: true });
    expect(await world.rows(`SELECT 1 FROM event WHERE task_id = $1 AND type = 'task.archived'`, [task.id])).toHaveLength(1);
    expect(await auditOf(task.id)).toEqual(['task.archive']);
  });

  test('can be taken back: the parent counts the child again [K20]', async () => {
    const parent = await world.task();
    const task = await world.task({ parent });
    accepted(await tasks.archive(world.operator, task.id));
    expect(await tasks.update(world.operator, task.id, { title: 'No' })).toMatchObject({ code: 'TASK_ARCHIVED' });
    expect(accepted(await tasks.unarchive(world.operator, task.id))).toMatchObject({ archived_at: null });
    accepted(await tasks.unarchive(world.operator, task.id));
    expect((await world.taskRow(parent.id)).open_children).toBe(1);
    accepted(await tasks.update(world.operator, task.id, { title: 'Yes' }));
  });

  test('is for an operator and agents above it', async () => {
    const parent = await world.task();
    const task = await world.task({ parent });
    const sibling = await world.task({ parent });
    for (const other of [task, sibling]) expect(await tasks.archive(world.agent(other), task.id)).toMatchObject({ code: 'FORBIDDEN' });
    accepted(await tasks.archive(world.agent(parent), task.id));
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
