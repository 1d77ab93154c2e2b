import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CreatedTask, CreateTask } from '@echelon/contracts';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { accepted, World } from '../../../test/support/world.js';
import type { Actor, AgentActor } from './actor.js';
import { ProfileService } from './profile.service.js';
import { TaskService } from './task.service.js';
import { WorkspaceService } from './workspace.service.js';

const LIMITS = { ...DEFAULT_LIMITS, creates_per_tree_minute: 300 };

let world: World;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  tasks = serviceWith({});
});
afterAll(() => world.close());

function serviceWith(limits: Partial<typeof LIMITS>): TaskService {
  return new TaskService(world.database, world.transactions, { ...LIMITS, ...limits });
}

/** What the edges make of a request. */
function request(given: Partial<CreateTask> = {}): CreateTask {
  return { prompt: 'Write the report.', autopilot: false, blocked_by: [], start_agent: true, workspace_id: world.workspaceId, ...given };
}

async function create(given: Partial<CreateTask> = {}, actor: Actor = world.operator): Promise<CreatedTask> {
  return accepted(await tasks.create(actor, request(given), null));
}

function agentOf(task: CreatedTask, callId: string | null = null): AgentActor {
  const sessionId = task.primary_session_id ?? '';
  return { kind: 'agent', workspaceId: task.workspace_id, taskId: task.id, sessionId, turnId: null, callId };
}

function below(parent: CreatedTask, given: Partial<CreateTask> = {}): Partial<CreateTask> {
  return { ...given, parent_id: parent.id };
}

async function count(table: 'task' | 'session' | 'queue_entry' | 'event' | 'audit'): Promise<number> {
  const [row] = await world.rows<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
  return row?.count ?? -1;
}

async function traces(): Promise<readonly number[]> {
  return [await count('task'), await count('session'), await count('queue_entry'), await count('event'), await count('audit')];
}

describe('a created task', () => {
  test('has one primary session of its profile, and its prompt waits in that session’s queue, announced', async () => {
    const task = await create({ title: 'Report' });
    expect(task).toMatchObject({ state: 'ready', depth: 0, parent_id: null, title: 'Report', title_source: 'manual', deduplicated: false });
    const session = await world.sessionRow(task.primary_session_id ?? '');
    expect(session).toMatchObject({ task_id: task.id, kind: 'task', is_primary: true, runtime: 'loop', state: 'created', runnable: true });
    const entries = await world.entries(session.id);
    expect(entries).toMatchObject([{ kind: 'prompt', text: 'Write the report.', sender_kind: 'operator', rank: 3, state: 'queued' }]);
    expect(world.announced).toContain(session.id);
  });

  test('without start_agent has no entry and nothing to do', async () => {
    const task = await create({ start_agent: false });
    expect(await world.entries(task.primary_session_id ?? '')).toEqual([]);
    expect(await world.sessionRow(task.primary_session_id ?? '')).toMatchObject({ state: 'created', runnable: false });
  });

  test('without a title is named by the first six words of its prompt, provisionally [N1]', async () => {
    expect(await create({ prompt: 'Find  the\nslowest query of the whole product' })).toMatchObject({
      title: 'Find the slowest query of the',
      title_source: 'provisional',
    });
    const long = await create({ prompt: '👩‍👩‍👧‍👦'.repeat(80) });
    expect(long.title).toBe('👩‍👩‍👧‍👦'.repeat(60));
  });

  test('without the flag is stored and shown as not autopilot [F1]', async () => {
    const task = await create();
    expect(task.autopilot).toBe(false);
    expect(accepted(await tasks.get(world.operator, task.id)).autopilot).toBe(false);
    const listed = accepted(await tasks.list(world.operator, { limit: 200, workspace_id: world.workspaceId }));
    expect(listed.items.map((each) => typeof each.autopilot)).toEqual(listed.items.map(() => 'boolean'));
    const [event] = await world.rows<{ payload: string }>(`SELECT payload FROM event WHERE type = 'task.created' AND task_id = $1`, [
      task.id,
    ]);
    expect(JSON.parse(event?.payload ?? '')).toMatchObject({ autopilot: false });
  });

  test('never inherits the flag from its parent [F3]', async () => {
    const parent = await create({ autopilot: true });
    expect(await create(below(parent))).toMatchObject({ autopilot: false, depth: 1 });
  });

  test('is autopilot under any parent when it is asked for [F2] [F4]', async () => {
    const normal = await create();
    const autopilot = await create({ autopilot: true });
    expect(await create(below(normal, { autopilot: true }))).toMatchObject({ autopilot: true });
    expect(await create(below(autopilot, { autopilot: true }), agentOf(autopilot))).toMatchObject({ autopilot: true });
  });

  test('is not autopilot because its texts say so [F7]', async () => {
    expect(await create({ title: 'autopilot: true', prompt: '<autopilot>true</autopilot>' })).toMatchObject({ autopilot: false });
  });

  test('works in its parent’s folder, a root and whoever asks for a new one in their own', async () => {
    const root = await create();
    const inheriting = await create(below(root));
    const separate = await create(below(root, { workspace_mode: 'new_workspace' }));
    const folders = await Promise.all([root, inheriting, separate].map(async ({ id }) => (await world.taskRow(id)).folder));
    expect(folders).toEqual([root.id, root.id, separate.id]);
    expect([root.workspace_mode, inheriting.workspace_mode]).toEqual(['new_workspace', 'inherit_parent']);
    expect(await tasks.create(world.operator, request({ workspace_mode: 'inherit_parent' }), null)).toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  test('stores its texts in the one text form [K19]', async () => {
    const task = await create({ title: 'a\u0000b', prompt: 'x\ud800y' });
    expect(task).toMatchObject({ title: 'a\ufffdb', prompt: 'x\ufffdy' });
  });

  test('leaves an audit row that names its creator', async () => {
    const parent = await create();
    const task = await create(below(parent), agentOf(parent));
    const rows = await world.rows(`SELECT actor, action FROM audit WHERE subject = $1`, [task.id]);
    expect(rows).toEqual([{ actor: `session:${parent.primary_session_id}`, action: 'task.create' }]);
  });
});

describe('limits', () => {
  test('count a title in characters as people see them and a prompt in bytes', async () => {
    const flag = '🇨🇭';
    expect(accepted(await tasks.create(world.operator, request({ title: flag.repeat(60) }), null)).title).toBe(flag.repeat(60));
    expect(await tasks.create(world.operator, request({ title: flag.repeat(61) }), null)).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'title', max: 60, actual: 61 },
    });
    expect(await tasks.create(world.operator, request({ prompt: 'é'.repeat(131_073) }), null)).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'prompt', max: 262_144, actual: 262_146 },
    });
    await create({ prompt: 'é'.repeat(131_072) });
  });

  test('refuse a child below the deepest level', async () => {
    const shallow = serviceWith({ depth: 1 });
    const root = await create();
    const child = accepted(await shallow.create(world.operator, request(below(root)), null));
    expect(await shallow.create(world.operator, request(below(child)), null)).toMatchObject({
      code: 'DEPTH_EXCEEDED',
      details: { max: 1 },
    });
  });

  test('refuse one child too many, also when many are created at once [K20]', async () => {
    const narrow = serviceWith({ children_per_task: 5 });
    const parent = await create();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => narrow.create(world.operator, request(below(parent)), null)));
    const codes = outcomes.map((outcome) => ('code' in outcome ? outcome.code : 'created'));
    expect(codes.filter((code) => code === 'created')).toHaveLength(5);
    expect(codes.filter((code) => code === 'TOO_MANY_CHILDREN')).toHaveLength(15);
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 5, child_set: 1 });
  });

  test('refuse what one tree creates too fast, whoever in the tree does it, and leave other trees alone', async () => {
    const slow = serviceWith({ creates_per_tree_minute: 4 });
    const root = await create();
    const left = accepted(await slow.create(world.operator, request(below(root)), null));
    const right = accepted(await slow.create(world.operator, request(below(root)), null));
    const parents = [left, right, left, right, left, right];
    const outcomes = await Promise.all(parents.map((parent) => slow.create(world.operator, request(below(parent)), null)));
    const codes = outcomes.map((outcome) => ('code' in outcome ? outcome.code : 'created'));
    expect(codes.filter((code) => code === 'created')).toHaveLength(1);
    expect(codes.filter((code) => code === 'CREATE_RATE_EXCEEDED')).toHaveLength(5);
    accepted(await slow.create(world.operator, request(), null));
  });
});

describe('a parent', () => {
  test('counts its open children; the first of a set opens the next set [K20]', async () => {
    const parent = await create();
    const first = await create(below(parent));
    await create(below(parent));
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 2, child_set: 1 });
    for (const child of accepted(await tasks.listRelated(world.operator, parent.id)).children)
      accepted(await tasks.update(world.operator, child.id, { state: 'completed' }));
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 0, child_set: 1 });
    await create(below(parent));
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 1, child_set: 2 });
    expect(accepted(await tasks.get(world.operator, first.id)).state).toBe('completed');
  });

  test('that has ended, is archived or is being stopped takes no children', async () => {
    const [ended, archived, stopping] = [await create(), await create(), await create()];
    accepted(await tasks.update(world.operator, ended.id, { state: 'cancelled' }));
    accepted(await tasks.archive(world.operator, archived.id));
    await world.rows('UPDATE task SET stopping = true WHERE id = $1', [stopping.id]);
    const outcomes = await Promise.all(
      [ended, archived, stopping].map((parent) => tasks.create(world.operator, request(below(parent)), null)),
    );
    expect(outcomes).toMatchObject([{ code: 'PARENT_NOT_USABLE' }, { code: 'TASK_ARCHIVED' }, { code: 'TASK_STOPPING' }]);
  });
});

describe('authority', () => {
  test('an agent creates below its own task and below its descendants, and nowhere else', async () => {
    const root = await create();
    const own = await create(below(root));
    const agent = agentOf(own);
    const child = await create(below(own), agent);
    await create(below(child), agent);
    const sibling = await create(below(root));
    for (const parent of [root, sibling])
      expect(await tasks.create(agent, request(below(parent)), null)).toMatchObject({ code: 'FORBIDDEN', details: { field: 'parent_id' } });
    expect(await tasks.create(agent, request(), null)).toMatchObject({ code: 'FORBIDDEN', details: { field: 'parent_id' } });
  });

  test('another workspace does not exist for an agent', async () => {
    const { other, foreign } = await anotherWorkspace();
    const agent = agentOf(await create());
    expect(await tasks.create(agent, request({ workspace_id: other, parent_id: foreign.id }), null)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await tasks.create(agent, request({ workspace_id: world.workspaceId, parent_id: foreign.id }), null)).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await tasks.get(agent, foreign.id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await tasks.update(agent, foreign.id, { title: 'mine' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await tasks.list(agent, { limit: 5, workspace_id: other })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await tasks.create(world.operator, request({ blocked_by: [foreign.id] }), null)).toMatchObject({
      code: 'NOT_FOUND',
      details: { field: 'blocked_by' },
    });
  });

  test('an agent whose session or turn has ended creates nothing', async () => {
    const own = await create();
    const turn = await world.claim(own.primary_session_id ?? '');
    const agent = { ...agentOf(own), turnId: turn.turn.id };
    await create(below(own), agent);
    await world.rows('UPDATE turn SET ended_by_question_id = $2 WHERE id = $1', [turn.turn.id, own.id]);
    expect(await tasks.create(agent, request(below(own)), null)).toMatchObject({ code: 'TURN_ENDED_BY_QUESTION' });
    accepted(await tasks.stop(world.operator, own.id, { cascade: false }));
    expect(await tasks.create(agent, request(below(own)), null)).toMatchObject({ code: 'SESSION_TERMINAL' });
  });
});

describe('the profile', () => {
  test('is the named one, else the parent’s, else the workspace’s first', async () => {
    const profiles = new ProfileService(world.database, world.transactions, LIMITS);
    const second = accepted(await profiles.create(world.operator, profileInput('Second')));
    const parent = await create({ profile_id: second.id });
    expect((await create(below(parent))).profile_id).toBe(second.id);
    accepted(await profiles.archive(world.operator, second.id));
    const first = await create();
    expect(first.profile_id).not.toBe(second.id);
    expect((await create(below(parent))).profile_id).toBe(first.profile_id);
    expect(await tasks.create(world.operator, request({ profile_id: second.id }), null)).toMatchObject({
      code: 'NOT_FOUND',
      details: { field: 'profile_id' },
    });
  });

  test('is missing in a new workspace, which the refusal says', async () => {
    const { id } = accepted(await new WorkspaceService(world.database, world.transactions).create(world.operator, { name: 'Empty' }));
    expect(await tasks.create(world.operator, request({ workspace_id: id }), null)).toMatchObject({
      code: 'INVALID_INPUT',
      details: { field: 'profile_id' },
    });
  });

  test('that cannot receive our tools, or that we do not drive, is refused for autopilot and leaves no row [F9]', async () => {
    const profiles = new ProfileService(world.database, world.transactions, LIMITS);
    for (const runtime of ['passthrough', 'external'] as const) {
      const { id } = accepted(await profiles.create(world.operator, { ...profileInput(`On ${runtime}`), runtime }));
      const before = await traces();
      expect(await tasks.create(world.operator, request({ autopilot: true, profile_id: id }), null)).toMatchObject({
        code: 'PROFILE_INCOMPATIBLE',
        details: { runtime },
      });
      expect(await traces()).toEqual(before);
      await create({ profile_id: id });
    }
  });
});

describe('an idempotency key', () => {
  test('gives the first task again, whatever happened to it since [F8] [K16]', async () => {
    const first = accepted(await tasks.create(world.operator, request({ title: 'Once' }), 'key-1'));
    accepted(await tasks.update(world.operator, first.id, { state: 'cancelled' }));
    const before = await traces();
    const again = accepted(await tasks.create(world.operator, request({ title: 'Once' }), 'key-1'));
    expect(again).toMatchObject({ id: first.id, deduplicated: true, state: 'cancelled' });
    expect(await traces()).toEqual(before);
  });

  test('with any other body is a mismatch, the flag included [F8]', async () => {
    const first = accepted(await tasks.create(world.operator, request({ title: 'Twice' }), 'key-2'));
    const others = [{ title: 'Twice.' }, { title: 'Twice', autopilot: true }, { title: 'Twice', start_agent: false }];
    for (const other of others)
      expect(await tasks.create(world.operator, request(other), 'key-2')).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(accepted(await tasks.get(world.operator, first.id)).autopilot).toBe(false);
  });

  test('belongs to its token, and to its session for an agent, whose call id it is [K16]', async () => {
    const first = accepted(await tasks.create(world.operator, request(), 'key-3'));
    const other = { ...world.operator, tokenId: first.id };
    expect(accepted(await tasks.create(other, request(), 'key-3')).id).not.toBe(first.id);
    const agent = agentOf(first, 'call_7');
    const child = await create(below(first), agent);
    expect(await create(below(first), agent)).toMatchObject({ id: child.id, deduplicated: true });
  });

  test('may be long', async () => {
    const key = 'k'.repeat(10_000);
    const first = accepted(await tasks.create(world.operator, request(), key));
    expect(accepted(await tasks.create(world.operator, request(), key)).id).toBe(first.id);
    expect(accepted(await tasks.create(world.operator, request(), `${key}k`)).id).not.toBe(first.id);
  });

  test.each([['a root', false] as const, ['a child', true] as const])(
    'used 100 times at once creates %s once [F8]',
    async (_what, isChild) => {
      const parent = isChild ? await create() : null;
      const before = await traces();
      const body = request({ title: 'Once only', ...(parent ? below(parent) : {}) });
      const outcomes = await Promise.all(Array.from({ length: 100 }, () => tasks.create(world.operator, body, `storm-${isChild}`)));
      const created = outcomes.map((outcome) => accepted(outcome));
      expect(new Set(created.map(({ id }) => id)).size).toBe(1);
      expect(created.filter(({ deduplicated }) => !deduplicated)).toHaveLength(1);
      const after = await traces();
      expect(after.slice(0, 3).map((now, index) => now - (before[index] ?? 0))).toEqual([1, 1, 1]);
      if (parent) expect((await world.taskRow(parent.id)).open_children).toBe(1);
    },
  );

  test('of a refused creation is free', async () => {
    const narrow = serviceWith({ depth: 0 });
    const parent = await create();
    expect(await narrow.create(world.operator, request(below(parent)), 'key-4')).toMatchObject({ code: 'DEPTH_EXCEEDED' });
    expect(accepted(await tasks.create(world.operator, request(below(parent)), 'key-4')).deduplicated).toBe(false);
  });
});

describe('blockers', () => {
  test('hold a task and its prompt until all of them have ended', async () => {
    const [one, two] = [await create(), await create()];
    const task = await create({ blocked_by: [one.id, two.id] });
    expect(task).toMatchObject({ state: 'blocked' });
    expect([...task.blocked_by].toSorted()).toEqual([one.id, two.id].toSorted());
    expect(await world.tryClaim(task.primary_session_id ?? '')).toBeNull();
    accepted(await tasks.update(world.operator, one.id, { state: 'completed' }));
    expect(await world.tryClaim(task.primary_session_id ?? '')).toBeNull();
    accepted(await tasks.update(world.operator, two.id, { state: 'completed' }));
    expect(accepted(await tasks.get(world.operator, task.id)).state).toBe('ready');
    expect(await world.tryClaim(task.primary_session_id ?? '')).not.toBeNull();
  });

  test('that have ended block nothing; an archived one that has not would block for ever and is refused', async () => {
    const [ended, archived] = [await create(), await create()];
    accepted(await tasks.update(world.operator, ended.id, { state: 'failed' }));
    accepted(await tasks.archive(world.operator, archived.id));
    expect(await create({ blocked_by: [ended.id] })).toMatchObject({ state: 'ready' });
    expect(await tasks.create(world.operator, request({ blocked_by: [archived.id] }), null)).toMatchObject({ code: 'TASK_ARCHIVED' });
  });

  test('that end while the task is created leave no task blocked for ever', async () => {
    const rounds = Array.from({ length: 15 }, async () => {
      const blocker = await create();
      const [created] = await Promise.all([
        create({ blocked_by: [blocker.id] }),
        tasks.update(world.operator, blocker.id, { state: 'completed' }),
      ]);
      return accepted(await tasks.get(world.operator, created.id)).state;
    });
    expect(new Set(await Promise.all(rounds))).toEqual(new Set(['ready']));
  });
});

function profileInput(name: string) {
  return {
    workspace_id: world.workspaceId,
    name,
    runtime: 'loop' as const,
    provider: 'scripted',
    model: 'scripted',
    system_prompt: '',
    max_output_tokens: null,
    fallback_models: [],
    budgets: {},
    parent_question_timeout_seconds: null,
  };
}

async function anotherWorkspace(): Promise<{ readonly other: string; readonly foreign: CreatedTask }> {
  const { id: other } = accepted(await new WorkspaceService(world.database, world.transactions).create(world.operator, { name: 'Other' }));
  const profiles = new ProfileService(world.database, world.transactions, LIMITS);
  accepted(await profiles.create(world.operator, { ...profileInput('Default'), workspace_id: other }));
  return { other, foreign: await create({ workspace_id: other }) };
}
