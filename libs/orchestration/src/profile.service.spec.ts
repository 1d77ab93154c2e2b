import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CreateProfile } from '@echelon/contracts';
import { DEFAULT_LIMITS, LIMITS } from '@echelon/domain';
import { newId } from '@echelon/persistence';
import { accepted, World } from '../../../test/support/world.js';
import { ProfileService } from './profile.service.js';
import { TaskService } from './task.service.js';
import { WorkspaceService } from './workspace.service.js';

let world: World;
let profiles: ProfileService;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  profiles = new ProfileService(world.database, world.transactions, DEFAULT_LIMITS);
  tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
});
afterAll(() => world.close());

function input(given: Partial<CreateProfile> = {}): CreateProfile {
  return {
    workspace_id: world.workspaceId,
    name: newId(),
    runtime: 'loop',
    provider: 'scripted',
    model: 'scripted',
    system_prompt: '',
    max_output_tokens: null,
    context_window: null,
    fallback_models: ['one', 'two'],
    budgets: { max_rounds: 7 },
    hooks: {},
    parent_question_timeout_seconds: null,
    user_question_timeout_seconds: null,
    ...given,
  };
}

async function autopilotTask(profileId: string) {
  const request = {
    prompt: 'Go.',
    autopilot: true,
    blocked_by: [],
    start_agent: false,
    workspace_id: world.workspaceId,
    profile_id: profileId,
  };
  return tasks.create(world.operator, request, null);
}

describe('a profile', () => {
  test('is stored, changed field by field and shown as it was given', async () => {
    const created = accepted(await profiles.create(world.operator, input({ name: 'Writer' })));
    expect(created).toMatchObject({ name: 'Writer', fallback_models: ['one', 'two'], budgets: { max_rounds: 7 }, archived_at: null });
    const changed = accepted(await profiles.update(world.operator, created.id, { model: 'larger', max_output_tokens: 1_000 }));
    expect(changed).toEqual({ ...created, model: 'larger', max_output_tokens: 1_000, updated_at: changed.updated_at });
    expect(accepted(await profiles.get(world.operator, created.id))).toEqual(changed);
    expect(accepted(await profiles.update(world.operator, created.id, { max_output_tokens: null })).max_output_tokens).toBeNull();
  });

  test('has the hooks that it was given, until they are changed', async () => {
    const hooks = { stop: [{ command: ['./done.sh'], timeout_seconds: 5 }], before_tool: [{ url: 'http://127.0.0.1:1/' }] };
    const { id } = accepted(await profiles.create(world.operator, input({ hooks })));
    expect(accepted(await profiles.update(world.operator, id, { model: 'larger' })).hooks).toEqual(hooks);
    expect(accepted(await profiles.update(world.operator, id, { hooks: {} })).hooks).toEqual({});
  });

  test('names the command of its agent with runtime acp, and there alone; a model only elsewhere', async () => {
    const command = ['gemini', '--acp'];
    const { provider: _provider, model: _model, ...rest } = input({ runtime: 'acp' });
    const acp = accepted(await profiles.create(world.operator, { ...rest, command }));
    expect(acp).toMatchObject({ runtime: 'acp', command, provider: 'acp', model: 'gemini' });
    const refused = (field: string) => ({ code: 'INVALID_INPUT', details: { field } });
    expect(await profiles.create(world.operator, input({ runtime: 'acp' }))).toMatchObject(refused('command'));
    expect(await profiles.create(world.operator, input({ command }))).toMatchObject(refused('command'));
    expect(await profiles.create(world.operator, { ...rest, runtime: 'loop' })).toMatchObject(refused('provider'));
    expect(await profiles.update(world.operator, acp.id, { runtime: 'loop' })).toMatchObject(refused('command'));
    const changes = { runtime: 'loop', command: null, provider: 'scripted' } as const;
    expect(accepted(await profiles.update(world.operator, acp.id, changes))).toMatchObject({ runtime: 'loop', command: null });
  });

  test('has a name that its workspace has once', async () => {
    const { id } = accepted(await profiles.create(world.operator, input({ name: 'Once' })));
    expect(await profiles.create(world.operator, input({ name: 'Once' }))).toMatchObject({ code: 'CONFLICT', details: { field: 'name' } });
    const other = accepted(await profiles.create(world.operator, input()));
    expect(await profiles.update(world.operator, other.id, { name: 'Once' })).toMatchObject({ code: 'CONFLICT' });
    accepted(await profiles.update(world.operator, id, { name: 'Once' }));
  });

  test('holds the largest numbers that a client may send', async () => {
    const most = LIMITS.whole_number.default;
    const numbers = { max_output_tokens: most, parent_question_timeout_seconds: most, user_question_timeout_seconds: most };
    const { id } = accepted(await profiles.create(world.operator, input(numbers)));
    expect(accepted(await profiles.get(world.operator, id))).toMatchObject(numbers);
  });

  test('has a system prompt within the limit', async () => {
    expect(await profiles.create(world.operator, input({ system_prompt: 'x'.repeat(262_145) }))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'system_prompt', max: 262_144, actual: 262_145 },
    });
  });

  test('that autopilot tasks use which have not ended keeps a runtime that can carry them [F11]', async () => {
    const { id } = accepted(await profiles.create(world.operator, input()));
    const task = accepted(await autopilotTask(id));
    for (const runtime of ['passthrough', 'external'] as const)
      expect(await profiles.update(world.operator, id, { runtime, model: 'other' })).toMatchObject({
        code: 'PROFILE_IN_USE',
        details: { field: 'runtime' },
      });
    expect(accepted(await profiles.get(world.operator, id))).toMatchObject({ runtime: 'loop', model: 'scripted' });
    accepted(await profiles.update(world.operator, id, { runtime: 'acp', command: ['gemini'] }));
    accepted(await profiles.update(world.operator, id, { runtime: 'loop', command: null }));
    accepted(await profiles.update(world.operator, id, { model: 'other' }));
    accepted(await tasks.update(world.operator, task.id, { state: 'completed' }));
    expect(accepted(await profiles.update(world.operator, id, { runtime: 'passthrough' })).runtime).toBe('passthrough');
  });

  test('is either edited or relied on, never both at once [F11]', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = accepted(await profiles.create(world.operator, input()));
      const [edited, created] = await Promise.all([profiles.update(world.operator, id, { runtime: 'passthrough' }), autopilotTask(id)]);
      expect(['code' in edited ? edited.code : 'edited', 'code' in created ? created.code : 'created']).toEqual(
        'code' in edited ? ['PROFILE_IN_USE', 'created'] : ['edited', 'PROFILE_INCOMPATIBLE'],
      );
    }
  });

  test('once archived is not listed and not offered, and archiving again changes nothing', async () => {
    const { id } = accepted(await profiles.create(world.operator, input()));
    const archived = accepted(await profiles.archive(world.operator, id));
    expect(accepted(await profiles.archive(world.operator, id)).archived_at).toBe(archived.archived_at);
    const listed = accepted(await profiles.list(world.operator, { limit: 200 }));
    expect(listed.items.map((profile) => profile.id)).not.toContain(id);
    expect(await autopilotTask(id)).toMatchObject({ code: 'NOT_FOUND', details: { field: 'profile_id' } });
    expect(accepted(await profiles.get(world.operator, id)).id).toBe(id);
  });

  test('is read by agents of its workspace and changed by operators', async () => {
    const workspaces = new WorkspaceService(world.database, world.transactions);
    const other = accepted(await workspaces.create(world.operator, { name: 'Other' }));
    const foreign = accepted(await profiles.create(world.operator, input({ workspace_id: other.id })));
    const own = accepted(await profiles.create(world.operator, input()));
    const agent = world.agent(await world.task());
    expect(accepted(await profiles.get(agent, own.id)).id).toBe(own.id);
    expect(await profiles.get(agent, foreign.id)).toMatchObject({ code: 'NOT_FOUND' });
    const seen = accepted(await profiles.list(agent, { limit: 200 }));
    expect(new Set(seen.items.map((profile) => profile.workspace_id))).toEqual(new Set([world.workspaceId]));
    for (const outcome of [
      await profiles.create(agent, input()),
      await profiles.update(agent, own.id, { model: 'mine' }),
      await profiles.archive(agent, own.id),
    ])
      expect(outcome).toMatchObject({ code: 'FORBIDDEN' });
    expect(await profiles.create(world.operator, input({ workspace_id: newId() }))).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a workspace', () => {
  test('has a name of its own; agents see theirs only, and make none', async () => {
    const workspaces = new WorkspaceService(world.database, world.transactions);
    const made = accepted(await workspaces.create(world.operator, { name: 'Lab' }));
    expect(await workspaces.create(world.operator, { name: 'Lab' })).toMatchObject({ code: 'CONFLICT' });
    const agent = world.agent(await world.task());
    expect(await workspaces.create(agent, { name: 'Mine' })).toMatchObject({ code: 'FORBIDDEN' });
    expect(await workspaces.get(agent, made.id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(accepted(await workspaces.list(agent, { limit: 50 })).items.map(({ id }) => id)).toEqual([world.workspaceId]);
    const first = accepted(await workspaces.list(world.operator, { limit: 1 }));
    const rest = accepted(await workspaces.list(world.operator, { limit: 50, cursor: first.next_cursor ?? '' }));
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(expect.arrayContaining([made.id, world.workspaceId]));
    expect(accepted(await workspaces.get(world.operator, made.id))).toEqual(made);
  });
});
