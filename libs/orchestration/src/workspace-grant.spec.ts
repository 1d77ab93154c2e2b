import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { newId } from '@echelon/persistence';
import { say } from '../../../test/support/waiting-child.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import type { AgentActor } from './actor.js';
import { SessionService } from './session.service.js';
import { TaskService } from './task.service.js';
import { WorkspaceService } from './workspace.service.js';

let world: World;
let workspaces: WorkspaceService;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  workspaces = new WorkspaceService(world.database, world.transactions);
  tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
});
afterAll(() => world.close());

/** A task in a workspace of its own, and its agent. */
async function foreigner(): Promise<TestTask & { readonly workspaceId: string; readonly agent: AgentActor }> {
  const { id: workspaceId } = accepted(await workspaces.create(world.operator, { name: newId() }));
  await world.rows(
    `INSERT INTO agent_profile (id, workspace_id, name, runtime, provider, model) VALUES ($1, $2, 'Default', 'loop', 'scripted', 'scripted')`,
    [newId(), workspaceId],
  );
  const input = { prompt: 'Do it.', autopilot: false, blocked_by: [], start_agent: false, workspace_id: workspaceId };
  const { id, primary_session_id } = accepted(await tasks.create(world.operator, input, null));
  const sessionId = primary_session_id ?? '';
  return { id, sessionId, workspaceId, agent: { ...world.agent({ id, sessionId }), workspaceId } };
}

describe('a workspace grant', () => {
  test('lets a task send messages into the other workspace, which without one does not exist for it [M13]', async () => {
    const [here, there] = [await world.task(), await foreigner()];
    const sender = world.agent(here);
    expect(await say(world, sender, there.id)).toMatchObject({ code: 'NOT_FOUND', details: {} });
    expect(await say(world, sender, newId())).toMatchObject({ code: 'NOT_FOUND', details: {} });
    accepted(await workspaces.grant(world.operator, world.workspaceId, there.workspaceId));
    const sent = accepted(await say(world, sender, there.id, { idempotency_key: 'once' }));
    expect(accepted(await say(world, sender, there.id, { idempotency_key: 'once' }))).toMatchObject({ delivery_id: sent.delivery_id });
    const entries = await world.entries(there.sessionId);
    expect(entries).toMatchObject([{ workspace_id: there.workspaceId, sender_task_id: here.id, kind: 'prompt', state: 'queued' }]);
    expect(entries[0]?.text).toContain('You cannot reply');
    expect(accepted(await world.services.messages.getDelivery(sender, sent.delivery_id))).toMatchObject({ state: 'queued' });
    expect(accepted(await world.services.messages.getDelivery(there.agent, sent.delivery_id)).text).toContain('Do this instead.');
  });

  test('goes one way, and for messages only [M13]', async () => {
    const [here, there] = [await world.task(), await foreigner()];
    const sender = world.agent(here);
    accepted(await workspaces.grant(world.operator, world.workspaceId, there.workspaceId));
    expect(await say(world, there.agent, here.id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await say(world, sender, there.id, { delivery_mode: 'interrupt' })).toMatchObject({ code: 'NOT_DIRECT_PARENT' });
    const sessions = new SessionService(world.database, world.transactions);
    const others = [
      tasks.get(sender, there.id),
      tasks.stop(sender, there.id, { cascade: false }),
      tasks.archive(sender, there.id),
      tasks.delete(sender, there.id, { cascade: true }),
      tasks.update(sender, there.id, { title: 'No' }),
      tasks.spawnSession(sender, there.id, { kind: 'task', make_primary: false }, null),
      tasks.addDependency(sender, here.id, there.id),
      sessions.listMessages(sender, { taskId: there.id, limit: 5 }),
      sessions.get(sender, there.sessionId),
    ];
    for (const answer of await Promise.all(others)) expect(answer).toMatchObject({ code: 'NOT_FOUND' });
    accepted(await workspaces.grant(world.operator, there.workspaceId, world.workspaceId));
    accepted(await say(world, there.agent, here.id));
    accepted(await say(world, sender, there.id));
    expect((await world.entries(there.sessionId)).at(-1)?.text).toContain('message_task_kandev');
  });

  test('is an operator’s to give and to take back; the same again changes nothing [M13]', async () => {
    const [here, there] = [await world.task(), await foreigner()];
    const grant = () => workspaces.grant(world.operator, world.workspaceId, there.workspaceId);
    expect(await workspaces.grant(world.agent(here), world.workspaceId, there.workspaceId)).toMatchObject({ code: 'FORBIDDEN' });
    expect(accepted(await grant())).toEqual(accepted(await grant()));
    expect(
      accepted(await workspaces.listGrants(world.operator, world.workspaceId)).items.map(({ to_workspace_id }) => to_workspace_id),
    ).toContain(there.workspaceId);
    expect(await workspaces.grant(world.operator, world.workspaceId, newId())).toMatchObject({ code: 'NOT_FOUND' });
    expect(await workspaces.grant(world.operator, world.workspaceId, world.workspaceId)).toMatchObject({ code: 'INVALID_INPUT' });
    accepted(await workspaces.revokeGrant(world.operator, world.workspaceId, there.workspaceId));
    expect(await workspaces.revokeGrant(world.operator, world.workspaceId, there.workspaceId)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await say(world, world.agent(here), there.id)).toMatchObject({ code: 'NOT_FOUND' });
    const audited = await world.rows('SELECT action FROM audit WHERE subject = $1 ORDER BY id', [there.workspaceId]);
    expect(audited).toEqual([{ action: 'workspace.create' }, { action: 'workspace.grant' }, { action: 'workspace.revoke_grant' }]);
  });
});
