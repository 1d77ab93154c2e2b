import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import type { Actor } from './actor.js';
import { TaskPlanService } from './task-plan.service.js';
import { TaskService } from './task.service.js';

let world: World;
let plans: TaskPlanService;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  plans = new TaskPlanService(world.database, world.transactions, DEFAULT_LIMITS);
  tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
});
afterAll(() => world.close());

const FIRST = { content: '# First\n\n1. Look.\n' };
const SECOND = { content: '# Second\n' };

async function family() {
  const root = await world.task();
  const parent = await world.task({ parent: root });
  const task = await world.task({ parent });
  const sibling = await world.task({ parent });
  return { root, parent, task, sibling, child: await world.task({ parent: task }) };
}

async function planOf(task: TestTask, actor: Actor = world.operator) {
  return accepted(await plans.get(actor, task.id)).plan;
}

function told(task: TestTask) {
  return world.rows<{ payload: string; session_id: string | null }>(
    `SELECT payload, session_id FROM event WHERE task_id = $1 AND type = 'task.plan_changed' ORDER BY id`,
    [task.id],
  );
}

describe('who writes and reads a plan', () => {
  test('the task’s own session, the direct parent and an operator write it; anybody else is refused and nothing changes', async () => {
    const { root, parent, task, sibling, child } = await family();
    accepted(await plans.create(world.agent(task), task.id, FIRST, null));
    accepted(await plans.update(world.agent(parent), task.id, SECOND, null));
    expect(accepted(await plans.update(world.operator, task.id, { ...FIRST, title: 'Steps' }, null)).revision).toBe(3);
    for (const stranger of [root, sibling, child]) {
      const actor = world.agent(stranger);
      expect(await plans.update(actor, task.id, SECOND, null)).toMatchObject({ code: 'FORBIDDEN' });
      expect(await plans.create(actor, task.id, FIRST, null)).toMatchObject({ code: 'FORBIDDEN' });
      expect(await plans.delete(actor, task.id, null)).toMatchObject({ code: 'FORBIDDEN' });
      expect(await planOf(stranger)).toBeNull();
    }
    expect(await planOf(task)).toMatchObject({ title: 'Steps', content: FIRST.content, revision: 3 });
  });

  test('every agent of the tree reads it; one of another tree is refused, of another workspace finds no task', async () => {
    const { root, sibling, child, task } = await family();
    accepted(await plans.create(world.agent(task), task.id, FIRST, null));
    for (const reader of [root, sibling, child, task]) expect(await planOf(task, world.agent(reader))).toMatchObject(FIRST);
    const stranger = world.agent(await world.task());
    expect(await plans.get(stranger, task.id)).toMatchObject({ code: 'FORBIDDEN' });
    const foreigner = { ...stranger, workspaceId: crypto.randomUUID() };
    expect(await plans.get(foreigner, task.id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await plans.update(foreigner, task.id, SECOND, null)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('a parent that lost the task to another writes no more', async () => {
    const { root, parent, task } = await family();
    accepted(await tasks.reparent(world.operator, task.id, root.id));
    expect(await plans.create(world.agent(parent), task.id, FIRST, null)).toMatchObject({ code: 'FORBIDDEN' });
    expect(accepted(await plans.create(world.agent(root), task.id, FIRST, null)).revision).toBe(1);
  });

  test('an ended session writes nothing', async () => {
    const { parent, task } = await family();
    await world.endSession(parent, parent.sessionId);
    expect(await plans.create(world.agent(parent), task.id, FIRST, null)).toMatchObject({ code: 'SESSION_TERMINAL' });
  });

  test('the plan of an archived or ended task is read, not written; only an operator still deletes it', async () => {
    const archived = await family();
    accepted(await plans.create(world.operator, archived.task.id, FIRST, null));
    accepted(await tasks.archive(world.operator, archived.task.id));
    const ended = await family();
    accepted(await plans.create(world.operator, ended.task.id, FIRST, null));
    accepted(await tasks.update(world.operator, ended.task.id, { state: 'completed' }));
    for (const [{ task, parent }, code] of [
      [archived, 'TASK_ARCHIVED'],
      [ended, 'TASK_TERMINAL'],
    ] as const) {
      expect(await plans.put(world.operator, task.id, SECOND, null)).toMatchObject({ code });
      expect(await plans.delete(world.agent(parent), task.id, null)).toMatchObject({ code });
      expect(await planOf(task, world.agent(parent))).toMatchObject(FIRST);
      expect(accepted(await plans.delete(world.operator, task.id, null)).deleted).toBe(true);
    }
  });
});

describe('what a write changes', () => {
  test('a plan is created once: the same again returns it, another is a conflict that names the update', async () => {
    const { task } = await family();
    expect(accepted(await plans.create(world.operator, task.id, FIRST, null))).toEqual({
      task_id: task.id,
      revision: 1,
      deduplicated: false,
    });
    expect(accepted(await plans.create(world.operator, task.id, FIRST, null))).toMatchObject({ revision: 1, deduplicated: true });
    expect(await plans.create(world.operator, task.id, SECOND, null)).toMatchObject({
      code: 'CONFLICT',
      details: { rule: expect.stringContaining('update_task_plan_kandev'), revision: 1 },
    });
    expect(await planOf(task)).toMatchObject({ title: 'Plan', ...FIRST, revision: 1 });
  });

  test('an update needs a plan, keeps the title that it does not name, and changes nothing when it says the same', async () => {
    const { task } = await family();
    expect(await plans.update(world.operator, task.id, FIRST, null)).toMatchObject({ code: 'NOT_FOUND' });
    accepted(await plans.create(world.operator, task.id, { ...FIRST, title: ' Steps ' }, null));
    accepted(await plans.update(world.operator, task.id, SECOND, null));
    expect(accepted(await plans.update(world.operator, task.id, SECOND, null))).toMatchObject({ revision: 2, deduplicated: true });
    expect(await planOf(task)).toMatchObject({ title: 'Steps', ...SECOND, revision: 2 });
  });

  test('of writers that expect one revision exactly one writes; the others learn the present one', async () => {
    const { task } = await family();
    accepted(await plans.create(world.operator, task.id, FIRST, null));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, n) => plans.update(world.operator, task.id, { content: `by ${n}`, expected_revision: 1 }, null)),
    );
    const winner = outcomes.findIndex((outcome) => 'revision' in outcome);
    expect(outcomes.filter((outcome) => 'revision' in outcome)).toEqual([{ task_id: task.id, revision: 2, deduplicated: false }]);
    for (const [n, outcome] of outcomes.entries())
      if (n !== winner) expect(outcome).toMatchObject({ code: 'CONFLICT', details: { field: 'expected_revision', revision: 2 } });
    expect(await planOf(task)).toMatchObject({ content: `by ${winner}`, revision: 2 });
  });

  test('of creations at once exactly one is the plan', async () => {
    const { task } = await family();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, n) => plans.create(world.operator, task.id, { content: `by ${n}` }, null)),
    );
    expect(outcomes.filter((outcome) => 'revision' in outcome)).toHaveLength(1);
    expect(await planOf(task)).toMatchObject({ revision: 1 });
  });

  test('a deleted plan leaves no text, and a new one does not meet a revision of the old', async () => {
    const { task } = await family();
    accepted(await plans.create(world.operator, task.id, FIRST, null));
    expect(accepted(await plans.delete(world.operator, task.id, null)).deleted).toBe(true);
    expect(accepted(await plans.delete(world.operator, task.id, null)).deleted).toBe(false);
    expect(await planOf(task)).toBeNull();
    expect(await world.rows('SELECT title, content FROM task_plan WHERE task_id = $1', [task.id])).toEqual([{ title: '', content: null }]);
    expect(await plans.put(world.operator, task.id, { ...SECOND, expected_revision: 1 }, null)).toMatchObject({ code: 'CONFLICT' });
    expect(accepted(await plans.put(world.operator, task.id, { ...SECOND, expected_revision: 0 }, null)).revision).toBe(3);
  });

  test('a retried call returns what it left, although others wrote since; another body under its key is refused [K16]', async () => {
    const { task } = await family();
    const actor = world.agent(task);
    accepted(await plans.create(actor, task.id, FIRST, 'one'));
    accepted(await plans.update(world.operator, task.id, SECOND, 'two'));
    expect(accepted(await plans.create(actor, task.id, FIRST, 'one'))).toEqual({ task_id: task.id, revision: 1, deduplicated: true });
    expect(await plans.create(actor, task.id, SECOND, 'one')).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(await plans.update(actor, task.id, FIRST, 'one')).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    accepted(await plans.delete(actor, task.id, 'three'));
    accepted(await plans.create(world.operator, task.id, SECOND, 'four'));
    expect(accepted(await plans.delete(actor, task.id, 'three'))).toEqual({ task_id: task.id, deleted: true });
    expect(await planOf(task)).toMatchObject({ ...SECOND, revision: 4 });
  });

  test('a text is at most as long as the limit, in bytes, and a refusal tells its size', async () => {
    const { task } = await family();
    const max = DEFAULT_LIMITS.plan_bytes;
    expect(await plans.create(world.operator, task.id, { content: `${'é'.repeat(max / 2)}x` }, null)).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'content', max, actual: max + 1 },
    });
    expect(await plans.create(world.operator, task.id, { ...FIRST, title: 'x'.repeat(61) }, null)).toMatchObject({
      details: { field: 'title' },
    });
    accepted(await plans.create(world.operator, task.id, { content: 'é'.repeat(max / 2) }, null));
  });

  test('texts are stored in canonical form [K19]', async () => {
    const { task } = await family();
    accepted(await plans.create(world.operator, task.id, { content: 'a\0b\ud800', title: 'T\0' }, null));
    expect(await planOf(task)).toMatchObject({ content: 'a\ufffdb\ufffd', title: 'T\ufffd' });
    expect(accepted(await plans.create(world.operator, task.id, { content: 'a\0b\ud800', title: 'T\0' }, null)).deduplicated).toBe(true);
  });

  test('each change is told and recorded once, without the text', async () => {
    const { parent, task } = await family();
    accepted(await plans.create(world.agent(task), task.id, FIRST, null));
    accepted(await plans.create(world.agent(task), task.id, FIRST, null));
    accepted(await plans.update(world.agent(parent), task.id, { ...SECOND, title: 'Steps' }, null));
    accepted(await plans.delete(world.operator, task.id, null));
    const events = await told(task);
    expect(events.map(({ payload }): unknown => JSON.parse(payload))).toEqual([
      { task_id: task.id, change: 'created', title: 'Plan', revision: 1 },
      { task_id: task.id, change: 'updated', title: 'Steps', revision: 2 },
      { task_id: task.id, change: 'deleted', title: 'Steps', revision: 3 },
    ]);
    expect(events.map(({ session_id }) => session_id)).toEqual([task.sessionId, null, null]);
    expect(await world.rows(`SELECT 1 FROM audit WHERE subject = $1 AND action = 'task.plan'`, [task.id])).toHaveLength(3);
  });
});
