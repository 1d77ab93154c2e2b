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

describe('authority', () => {
  test('an agent creates below its own task and below its descendants, and nowhere else', async () => {
    const root = await tasks.create();
    const own = await tasks.create({ parent_id: root.id });
    const agent = agentOf(own);
    const child = await tasks.create({ parent_id: own.id }, agent);
    await tasks.create({ parent_id: child.id }, agent);
    const sibling = await tasks.create({ parent_id: root.id });
    for (const parent of [root, sibling])
      expect(await tasks.service.create(agent, tasks.request({ parent_id: parent.id }), null)).toMatchObject({
        code: 'FORBIDDEN',
        details: { field: 'parent_id' },
      });
    expect(await tasks.service.create(agent, tasks.request(), null)).toMatchObject({ code: 'FORBIDDEN', details: { field: 'parent_id' } });
  });

  test('another workspace does not exist for an agent [O2]', async () => {
    const foreign = await tasks.createElsewhere();
    const other = foreign.workspace_id;
    const agent = agentOf(await tasks.create());
    expect(await tasks.service.create(agent, tasks.request({ workspace_id: other, parent_id: foreign.id }), null)).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(
      await tasks.service.create(agent, tasks.request({ workspace_id: world.workspaceId, parent_id: foreign.id }), null),
    ).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await tasks.service.get(agent, foreign.id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await tasks.service.update(agent, foreign.id, { title: 'mine' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await tasks.service.list(agent, { limit: 5, workspace_id: other })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await tasks.service.create(world.operator, tasks.request({ blocked_by: [foreign.id] }), null)).toMatchObject({
      code: 'NOT_FOUND',
      details: { field: 'blocked_by' },
    });
  });

  test('an agent whose session or turn has ended creates nothing', async () => {
    const own = await tasks.create();
    const turn = await world.claim(own.primary_session_id ?? '');
    const agent = { ...agentOf(own), turnId: turn.turn.id };
    await tasks.create({ parent_id: own.id }, agent);
    await world.rows('UPDATE turn SET ended_by_question_id = $2 WHERE id = $1', [turn.turn.id, own.id]);
    expect(await tasks.service.create(agent, tasks.request({ parent_id: own.id }), null)).toMatchObject({ code: 'TURN_ENDED_BY_QUESTION' });
    accepted(await tasks.service.stop(world.operator, own.id, { cascade: false }));
    expect(await tasks.service.create(agent, tasks.request({ parent_id: own.id }), null)).toMatchObject({ code: 'SESSION_TERMINAL' });
  });
});

describe('the profile', () => {
  test('is the named one, else the parent’s, else the workspace’s first', async () => {
    const second = await tasks.profile('Second');
    const parent = await tasks.create({ profile_id: second });
    expect((await tasks.create({ parent_id: parent.id })).profile_id).toBe(second);
    accepted(await tasks.profiles.archive(world.operator, second));
    const first = await tasks.create();
    expect(first.profile_id).not.toBe(second);
    expect((await tasks.create({ parent_id: parent.id })).profile_id).toBe(first.profile_id);
    expect(await tasks.service.create(world.operator, tasks.request({ profile_id: second }), null)).toMatchObject({
      code: 'NOT_FOUND',
      details: { field: 'profile_id' },
    });
  });

  test('is missing in a new workspace, which the refusal says', async () => {
    const { id } = accepted(await tasks.workspaces.create(world.operator, { name: 'Empty' }));
    expect(await tasks.service.create(world.operator, tasks.request({ workspace_id: id }), null)).toMatchObject({
      code: 'INVALID_INPUT',
      details: { field: 'profile_id' },
    });
  });

  test('that cannot receive our tools, or that we do not drive, is refused for autopilot and leaves no row [F9]', async () => {
    for (const runtime of ['passthrough', 'external'] as const) {
      const id = await tasks.profile(`On ${runtime}`, runtime);
      const before = await tasks.traces();
      expect(await tasks.service.create(world.operator, tasks.request({ autopilot: true, profile_id: id }), null)).toMatchObject({
        code: 'PROFILE_INCOMPATIBLE',
        details: { runtime },
      });
      expect(await tasks.traces()).toEqual(before);
      await tasks.create({ profile_id: id });
    }
  });
});

describe('an idempotency key', () => {
  test('gives the first task again, whatever happened to it since [F8] [K16]', async () => {
    const first = accepted(await tasks.service.create(world.operator, tasks.request({ title: 'Once' }), 'key-1'));
    accepted(await tasks.service.update(world.operator, first.id, { state: 'cancelled' }));
    const before = await tasks.traces();
    const again = accepted(await tasks.service.create(world.operator, tasks.request({ title: 'Once' }), 'key-1'));
    expect(again).toMatchObject({ id: first.id, deduplicated: true, state: 'cancelled' });
    expect(await tasks.traces()).toEqual(before);
  });

  test('with any other body is a mismatch, the flag included [F8]', async () => {
    const first = accepted(await tasks.service.create(world.operator, tasks.request({ title: 'Twice' }), 'key-2'));
    const others = [{ title: 'Twice.' }, { title: 'Twice', autopilot: true }, { title: 'Twice', start_agent: false }];
    for (const other of others)
      expect(await tasks.service.create(world.operator, tasks.request(other), 'key-2')).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(accepted(await tasks.service.get(world.operator, first.id)).autopilot).toBe(false);
  });

  test('belongs to its token, and to its session for an agent, whose call id it is [K16]', async () => {
    const first = accepted(await tasks.service.create(world.operator, tasks.request(), 'key-3'));
    const other = { ...world.operator, tokenId: first.id };
    expect(accepted(await tasks.service.create(other, tasks.request(), 'key-3')).id).not.toBe(first.id);
    const agent = agentOf(first, 'call_7');
    const child = await tasks.create({ parent_id: first.id }, agent);
    expect(await tasks.create({ parent_id: first.id }, agent)).toMatchObject({ id: child.id, deduplicated: true });
  });

  test('may be long', async () => {
    const key = 'k'.repeat(10_000);
    const first = accepted(await tasks.service.create(world.operator, tasks.request(), key));
    expect(accepted(await tasks.service.create(world.operator, tasks.request(), key)).id).toBe(first.id);
    expect(accepted(await tasks.service.create(world.operator, tasks.request(), `${key}k`)).id).not.toBe(first.id);
  });

  test.each([['a root', false] as const, ['a child', true] as const])(
    'used 100 times at once creates %s once [F8]',
    async (_what, isChild) => {
      const parent = isChild ? await tasks.create() : null;
      const before = await tasks.traces();
      const body = tasks.request({ title: 'Once only', ...(parent ? { parent_id: parent.id } : {}) });
      const outcomes = await Promise.all(Array.from({ length: 100 }, () => tasks.service.create(world.operator, body, `storm-${isChild}`)));
      const created = outcomes.map((outcome) => accepted(outcome));
      expect(new Set(created.map(({ id }) => id)).size).toBe(1);
      expect(created.filter(({ deduplicated }) => !deduplicated)).toHaveLength(1);
      const one = { tasks: before.tasks + 1, sessions: before.sessions + 1, entries: before.entries + 1, wakes: before.wakes + 1 };
      expect(await tasks.traces()).toMatchObject(one);
      if (parent) expect((await world.taskRow(parent.id)).open_children).toBe(1);
    },
  );

  test('of a refused creation is free', async () => {
    const narrow = tasks.limitedBy({ depth: 0 });
    const parent = await tasks.create();
    expect(await narrow.create(world.operator, tasks.request({ parent_id: parent.id }), 'key-4')).toMatchObject({ code: 'DEPTH_EXCEEDED' });
    expect(accepted(await tasks.service.create(world.operator, tasks.request({ parent_id: parent.id }), 'key-4')).deduplicated).toBe(false);
  });
});
