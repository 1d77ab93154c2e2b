import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentOf, CreatedTasks } from '../../../test/support/created-tasks.js';
import { accepted, World } from '../../../test/support/world.js';

let world: World;
let tasks: CreatedTasks;

beforeAll(async () => {
  world = await World.open();
  tasks = new CreatedTasks(world);
});
afterAll(() => world.close());

describe('a created task', () => {
  test('has one primary session of its profile, and its prompt waits in that session’s queue, announced', async () => {
    const task = await tasks.create({ title: 'Report' });
    expect(task).toMatchObject({ state: 'ready', depth: 0, parent_id: null, title: 'Report', title_source: 'manual', deduplicated: false });
    const session = await world.sessionRow(task.primary_session_id ?? '');
    expect(session).toMatchObject({ task_id: task.id, kind: 'task', is_primary: true, runtime: 'loop', state: 'created', runnable: true });
    const entries = await world.entries(session.id);
    expect(entries).toMatchObject([{ kind: 'prompt', text: 'Write the report.', sender_kind: 'operator', rank: 3, state: 'queued' }]);
    expect(world.announced).toContain(session.id);
  });

  test('without start_agent has no entry and nothing to do', async () => {
    const task = await tasks.create({ start_agent: false });
    expect(await world.entries(task.primary_session_id ?? '')).toEqual([]);
    expect(await world.sessionRow(task.primary_session_id ?? '')).toMatchObject({ state: 'created', runnable: false });
  });

  test('without a title is named by the first six words of its prompt, provisionally [N1]', async () => {
    expect(await tasks.create({ prompt: 'Find  the\nslowest query of the whole product' })).toMatchObject({
      title: 'Find the slowest query of the',
      title_source: 'provisional',
    });
    const long = await tasks.create({ prompt: '👩‍👩‍👧‍👦'.repeat(80) });
    expect(long.title).toBe('👩‍👩‍👧‍👦'.repeat(60));
  });

  test('without the flag is stored and shown as not autopilot [F1]', async () => {
    const task = await tasks.create();
    expect(task.autopilot).toBe(false);
    expect(accepted(await tasks.service.get(world.operator, task.id)).autopilot).toBe(false);
    const listed = accepted(await tasks.service.list(world.operator, { limit: 200, workspace_id: world.workspaceId }));
    expect(listed.items.map((each) => typeof each.autopilot)).toEqual(listed.items.map(() => 'boolean'));
    accepted(await tasks.service.update(world.operator, task.id, { title: 'Named', state: 'cancelled' }));
    accepted(await tasks.service.archive(world.operator, task.id));
    const told = await world.rows<{ type: string; autopilot: boolean }>(
      `SELECT type, payload::jsonb->'autopilot' AS autopilot FROM event WHERE task_id = $1 AND type LIKE 'task.%'`,
      [task.id],
    );
    expect(new Set(told.map(({ type }) => type))).toEqual(new Set(['task.created', 'task.updated', 'task.archived']));
    expect(told.map(({ autopilot }) => autopilot)).toEqual(told.map(() => false));
  });

  test('never inherits the flag from its parent [F3]', async () => {
    const parent = await tasks.create({ autopilot: true });
    expect(await tasks.create({ parent_id: parent.id })).toMatchObject({ autopilot: false, depth: 1 });
  });

  test('is autopilot under any parent when it is asked for [F2] [F4]', async () => {
    const normal = await tasks.create();
    const autopilot = await tasks.create({ autopilot: true });
    expect(await tasks.create({ parent_id: normal.id, autopilot: true })).toMatchObject({ autopilot: true });
    expect(await tasks.create({ parent_id: autopilot.id, autopilot: true }, agentOf(autopilot))).toMatchObject({ autopilot: true });
  });

  test('is not autopilot because its texts say so [F7]', async () => {
    expect(await tasks.create({ title: 'autopilot: true', prompt: '<autopilot>true</autopilot>' })).toMatchObject({ autopilot: false });
  });

  test('works in its parent’s folder, a root and whoever asks for a new one in their own [O8]', async () => {
    const root = await tasks.create();
    const inheriting = await tasks.create({ parent_id: root.id });
    const separate = await tasks.create({ parent_id: root.id, workspace_mode: 'new_workspace' });
    const folders = await Promise.all([root, inheriting, separate].map(async ({ id }) => (await world.taskRow(id)).folder));
    expect(folders).toEqual([root.id, root.id, separate.id]);
    expect([root.workspace_mode, inheriting.workspace_mode]).toEqual(['new_workspace', 'inherit_parent']);
    expect(await tasks.service.create(world.operator, tasks.request({ workspace_mode: 'inherit_parent' }), null)).toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  test('stores its texts in the one text form [K19]', async () => {
    const task = await tasks.create({ title: 'a\u0000b', prompt: 'x\ud800y' });
    expect(task).toMatchObject({ title: 'a\ufffdb', prompt: 'x\ufffdy' });
  });

  test('leaves an audit row that names its creator', async () => {
    const parent = await tasks.create();
    const task = await tasks.create({ parent_id: parent.id }, agentOf(parent));
    const rows = await world.rows(`SELECT actor, action FROM audit WHERE subject = $1`, [task.id]);
    expect(rows).toEqual([{ actor: `session:${parent.primary_session_id}`, action: 'task.create' }]);
  });
});

describe('limits', () => {
  test('count a title in characters as people see them and a prompt in bytes [O34]', async () => {
    const flag = '🇨🇭';
    expect(accepted(await tasks.service.create(world.operator, tasks.request({ title: flag.repeat(60) }), null)).title).toBe(
      flag.repeat(60),
    );
    expect(await tasks.service.create(world.operator, tasks.request({ title: flag.repeat(61) }), null)).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'title', max: 60, actual: 61 },
    });
    expect(await tasks.service.create(world.operator, tasks.request({ prompt: 'é'.repeat(131_073) }), null)).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'prompt', max: 262_144, actual: 262_146 },
    });
    await tasks.create({ prompt: 'é'.repeat(131_072) });
  });

  test('refuse a child below the deepest level [O37]', async () => {
    const shallow = tasks.limitedBy({ depth: 1 });
    const root = await tasks.create();
    const child = accepted(await shallow.create(world.operator, tasks.request({ parent_id: root.id }), null));
    expect(await shallow.create(world.operator, tasks.request({ parent_id: child.id }), null)).toMatchObject({
      code: 'DEPTH_EXCEEDED',
      details: { max: 1 },
    });
  });

  test('refuse one child too many, also when many are created at once [K20, O37]', async () => {
    const narrow = tasks.limitedBy({ children_per_task: 5 });
    const parent = await tasks.create();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => narrow.create(world.operator, tasks.request({ parent_id: parent.id }), null)),
    );
    const codes = outcomes.map((outcome) => ('code' in outcome ? outcome.code : 'created'));
    expect(codes.filter((code) => code === 'created')).toHaveLength(5);
    expect(codes.filter((code) => code === 'TOO_MANY_CHILDREN')).toHaveLength(15);
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 5, child_set: 1 });
  });

  test('refuse what one tree creates too fast, whoever in the tree does it, and leave other trees alone [O38]', async () => {
    const slow = tasks.limitedBy({ creates_per_tree_minute: 4 });
    const root = await tasks.create();
    const left = accepted(await slow.create(world.operator, tasks.request({ parent_id: root.id }), null));
    const right = accepted(await slow.create(world.operator, tasks.request({ parent_id: root.id }), null));
    const parents = [left, right, left, right, left, right];
    const outcomes = await Promise.all(parents.map((parent) => slow.create(world.operator, tasks.request({ parent_id: parent.id }), null)));
    const codes = outcomes.map((outcome) => ('code' in outcome ? outcome.code : 'created'));
    expect(codes.filter((code) => code === 'created')).toHaveLength(1);
    expect(codes.filter((code) => code === 'CREATE_RATE_EXCEEDED')).toHaveLength(5);
    accepted(await slow.create(world.operator, tasks.request(), null));
  });
});

describe('a parent', () => {
  test('counts its open children; the first of a set opens the next set [K20]', async () => {
    const parent = await tasks.create();
    const first = await tasks.create({ parent_id: parent.id });
    await tasks.create({ parent_id: parent.id });
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 2, child_set: 1 });
    for (const child of accepted(await tasks.service.listRelated(world.operator, parent.id)).children)
      accepted(await tasks.service.update(world.operator, child.id, { state: 'completed' }));
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 0, child_set: 1 });
    await tasks.create({ parent_id: parent.id });
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 1, child_set: 2 });
    expect(accepted(await tasks.service.get(world.operator, first.id)).state).toBe('completed');
  });

  test('that has ended, is archived or is being stopped takes no children', async () => {
    const [ended, archived, stopping] = [await tasks.create(), await tasks.create(), await tasks.create()];
    accepted(await tasks.service.update(world.operator, ended.id, { state: 'cancelled' }));
    accepted(await tasks.service.archive(world.operator, archived.id));
    await world.rows('UPDATE task SET stopping = true WHERE id = $1', [stopping.id]);
    const outcomes = await Promise.all(
      [ended, archived, stopping].map((parent) => tasks.service.create(world.operator, tasks.request({ parent_id: parent.id }), null)),
    );
    expect(outcomes).toMatchObject([{ code: 'PARENT_NOT_USABLE' }, { code: 'TASK_ARCHIVED' }, { code: 'TASK_STOPPING' }]);
  });
});

describe('blockers', () => {
  test('hold a task and its prompt until all of them have completed', async () => {
    const [one, two] = [await tasks.create(), await tasks.create()];
    const task = await tasks.create({ blocked_by: [one.id, two.id] });
    expect(task).toMatchObject({ state: 'blocked' });
    expect([...task.blocked_by].toSorted()).toEqual([one.id, two.id].toSorted());
    expect(await world.tryClaim(task.primary_session_id ?? '')).toBeNull();
    accepted(await tasks.service.update(world.operator, one.id, { state: 'completed' }));
    expect(await world.tryClaim(task.primary_session_id ?? '')).toBeNull();
    accepted(await tasks.service.update(world.operator, two.id, { state: 'completed' }));
    expect(accepted(await tasks.service.get(world.operator, task.id)).state).toBe('ready');
    expect(await world.tryClaim(task.primary_session_id ?? '')).not.toBeNull();
  });

  test('that have completed block nothing; one that will not complete is refused', async () => {
    const [completed, failed, archived] = [await tasks.create(), await tasks.create(), await tasks.create()];
    accepted(await tasks.service.update(world.operator, completed.id, { state: 'completed' }));
    accepted(await tasks.service.update(world.operator, failed.id, { state: 'failed' }));
    accepted(await tasks.service.archive(world.operator, archived.id));
    expect(await tasks.create({ blocked_by: [completed.id] })).toMatchObject({ state: 'ready', blocked_reason: null });
    for (const [blocker, code] of [
      [failed, 'TASK_TERMINAL'],
      [archived, 'TASK_ARCHIVED'],
    ] as const) {
      const refused = await tasks.service.create(world.operator, tasks.request({ blocked_by: [blocker.id] }), null);
      expect(refused).toMatchObject({ code, details: { field: 'blocked_by', task_id: blocker.id } });
    }
  });

  test('that fail, are cancelled or archived afterwards are named with their states in blocked_reason', async () => {
    const [failed, archived, open] = [await tasks.create(), await tasks.create(), await tasks.create()];
    const task = await tasks.create({ blocked_by: [failed.id, archived.id, open.id] });
    expect(task.blocked_reason).toBeNull();
    accepted(await tasks.service.update(world.operator, failed.id, { state: 'failed' }));
    accepted(await tasks.service.archive(world.operator, archived.id));
    const { state, blocked_reason } = accepted(await tasks.service.get(world.operator, task.id));
    expect(state).toBe('blocked');
    expect(blocked_reason).toContain(`${failed.id} (failed)`);
    expect(blocked_reason).toContain(`${archived.id} (archived)`);
    expect(blocked_reason).not.toContain(open.id);
  });

  test('that end while the task is created leave no task blocked for ever', async () => {
    const rounds = Array.from({ length: 15 }, async () => {
      const blocker = await tasks.create();
      const [created] = await Promise.all([
        tasks.create({ blocked_by: [blocker.id] }),
        tasks.service.update(world.operator, blocker.id, { state: 'completed' }),
      ]);
      return accepted(await tasks.service.get(world.operator, created.id)).state;
    });
    expect(new Set(await Promise.all(rounds))).toEqual(new Set(['ready']));
  });
});
