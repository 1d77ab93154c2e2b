import type { Actor } from '@echelon/orchestration';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ASK, ToolBench } from '../../../test/support/tool-bench.js';
import type { World } from '../../../test/support/world.js';

let bench: ToolBench;
let world: World;

beforeAll(async () => {
  bench = await ToolBench.open();
  world = bench.world;
});
afterAll(() => bench.close());

describe('reading and changing tasks', () => {
  test('related tasks show which children wait for their parent', async () => {
    const { parent, child } = await bench.family();
    const other = await world.task({ parent });
    await world.openTurn(child.sessionId);
    await world.openTurn(other.sessionId);
    await bench.callMcp(world.agent(child), 'ask_parent_question_kandev', ASK);
    await bench.callMcp(world.agent(other), 'ask_user_question_kandev', ASK);
    const { children } = await bench.succeed(world.agent(parent), 'list_related_tasks_kandev', {});
    expect(children).toMatchObject([
      { id: child.id, waits_for_parent: true },
      { id: other.id, pending_action: expect.anything(), waits_for_parent: false },
    ]);
    expect(await bench.succeed(world.agent(child), 'list_related_tasks_kandev', {})).toMatchObject({
      parent: { id: parent.id },
      siblings: [{ id: other.id }],
    });
  });

  test('lists leave prompts and results out and go on from their cursor', async () => {
    const parent = await world.task();
    const ids = [await world.task({ parent }), await world.task({ parent }), await world.task({ parent })].map(({ id }) => id);
    const first = await bench.succeed(world.agent(parent), 'list_tasks_kandev', { parent_id: parent.id, limit: 2 });
    const second = await bench.succeed(world.agent(parent), 'list_tasks_kandev', {
      parent_id: parent.id,
      limit: 2,
      cursor: first['next_cursor'],
    });
    const items = [first, second].flatMap((page) => page['items'] as Record<string, unknown>[]);
    expect(items.map((item) => item['id'])).toEqual(ids.toReversed());
    expect(items.filter((item) => 'prompt' in item || 'result' in item || !('autopilot' in item))).toEqual([]);
    expect(second['next_cursor']).toBeNull();
  });

  test('an update that names autopilot changes nothing, the title beside it neither [F5]', async () => {
    const task = await world.task({ title: 'Before' });
    const result = await bench.call(world.agent(task), 'update_task_kandev', { task_id: task.id, title: 'After', autopilot: true });
    expect(result).toEqual({ text: 'Invalid arguments for update_task_kandev:\n- autopilot: unknown argument', isError: true });
    expect(await world.taskRow(task.id)).toMatchObject({ title: 'Before', autopilot: false });
    expect(await bench.succeed(world.agent(task), 'update_task_kandev', { task_id: task.id, title: 'After' })).toMatchObject({
      title: 'After',
    });
  });

  test('the direct parent stops and archives a child, a second time without effect; a stranger may not', async () => {
    const { parent, child } = await bench.family();
    const stranger = await world.task();
    expect(await bench.call(world.agent(stranger), 'stop_task_kandev', { task_id: child.id })).toMatchObject({
      structured: { error: 'NOT_DIRECT_PARENT' },
    });
    expect(await bench.succeed(world.agent(parent), 'stop_task_kandev', { task_id: child.id })).toEqual({
      task_id: child.id,
      status: 'stopped',
      descendants: [],
    });
    expect(await bench.succeed(world.agent(parent), 'stop_task_kandev', { task_id: child.id })).toMatchObject({ status: 'not_running' });
    expect(await bench.succeed(world.agent(parent), 'archive_task_kandev', { task_id: child.id })).toMatchObject({
      task_id: child.id,
      already_archived: false,
    });
    expect(await bench.succeed(world.agent(parent), 'archive_task_kandev', { task_id: child.id })).toMatchObject({
      already_archived: true,
    });
  });

  test('a conversation is read in order, without what only providers need, and sessions are listed with the current one marked', async () => {
    const { parent, child } = await bench.family();
    const claimed = await world.openTurn(child.sessionId);
    await world.endTurn(claimed);
    await world.openTurn(child.sessionId);
    const last = await bench.succeed(world.agent(parent), 'get_task_conversation_kandev', { task_id: child.id, limit: 1 });
    expect(last).toMatchObject({
      task_id: child.id,
      session_id: child.sessionId,
      messages: [{ type: 'prompt', role: 'user', parts: [{ type: 'text' }] }],
    });
    const earlier = await bench.succeed(world.agent(parent), 'get_task_conversation_kandev', {
      task_id: child.id,
      before: last['next_cursor'],
    });
    expect(earlier).toMatchObject({ messages: [{ turn_id: claimed.turn.id }], next_cursor: null });
    const stray = await bench.call(world.agent(parent), 'get_task_conversation_kandev', {
      task_id: child.id,
      session_id: parent.sessionId,
    });
    expect(stray).toMatchObject({ structured: { error: 'SESSION_NOT_OF_TASK' } });
    expect(await bench.succeed(world.agent(child), 'list_task_sessions_kandev', { task_id: child.id })).toMatchObject({
      sessions: [{ session_id: child.sessionId, is_primary: true, is_current: true }],
    });
  });

  test('agent profiles say whether an autopilot task can use them', async () => {
    const { items } = await bench.succeed(world.agent(await world.task()), 'list_agents_kandev', {});
    const lines = items as { readonly runtime: string; readonly can_autopilot: boolean }[];
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.every(({ runtime, can_autopilot: can }) => can === (runtime === 'loop'))).toBe(true);
  });

  test('a completion signal is accepted once for a turn', async () => {
    const task = await world.task();
    const { turn } = await world.openTurn(task.sessionId);
    const actor = world.agent(task, { turnId: turn.id });
    expect(await bench.succeed(actor, 'step_complete_kandev', { summary: 'Done.', blockers: ['No key.'] }, { callId: 'call-1' })).toEqual({
      accepted: true,
    });
    expect(await bench.succeed(actor, 'step_complete_kandev', { summary: 'Done again.' }, { callId: 'call-2' })).toEqual({
      accepted: false,
      reason: 'already_signaled',
    });
  });

  test('a foreign object is not found, whether it exists or not', async () => {
    const stranger: Actor = { ...world.agent(await world.task()), workspaceId: crypto.randomUUID() };
    const task = await world.task();
    const existing = await bench.call(stranger, 'get_task_kandev', { task_id: task.id });
    expect(existing).toMatchObject({ isError: true, structured: { error: 'NOT_FOUND' } });
    expect(await bench.call(stranger, 'get_task_kandev', { task_id: crypto.randomUUID() })).toEqual(existing);
  });
});
