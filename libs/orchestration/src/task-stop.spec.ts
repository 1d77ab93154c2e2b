import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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
    const middles = await Promise.all([1, 2].map(() => world.task({ parent: top })));
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
