import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ToolBench } from '../../../test/support/tool-bench.js';
import { accepted, type World } from '../../../test/support/world.js';

let bench: ToolBench;
let world: World;

beforeAll(async () => {
  bench = await ToolBench.open();
  world = bench.world;
});
afterAll(() => bench.close());

describe('create_task_kandev', () => {
  test('creates a subtask of the caller with its prompt in the queue, and not on autopilot unless told so [F1, F3]', async () => {
    const creator = await world.task({ autopilot: true });
    const created = await bench.succeed(world.agent(creator), 'create_task_kandev', {
      parent_id: 'self',
      title: 'Write it',
      prompt: 'Write the file.',
    });
    expect(created).toMatchObject({ parent_id: creator.id, title: 'Write it', autopilot: false, state: 'ready', deduplicated: false });
    expect(created).not.toHaveProperty('prompt');
    expect(await world.taskRow(String(created['id']))).toMatchObject({
      parent_id: creator.id,
      autopilot: false,
      prompt: 'Write the file.',
    });
    expect(await world.entries(String(created['primary_session_id']))).toMatchObject([
      { kind: 'prompt', state: 'queued', sender_task_id: creator.id },
    ]);
  });

  test('an agent that names no parent creates below its own task, and any parent may create an autopilot child [F4]', async () => {
    const creator = await world.task();
    const created = await bench.succeed(world.agent(creator), 'create_task_kandev', { prompt: 'Do it.', autopilot: true });
    expect(created).toMatchObject({ parent_id: creator.id, autopilot: true });
    expect(await bench.succeed(world.agent(creator), 'get_task_kandev', { task_id: created['id'] })).toMatchObject({ autopilot: true });
  });

  test('autopilot with a profile whose runtime cannot carry it is refused, and no row remains [F9]', async () => {
    const creator = await world.task();
    const profile = accepted(
      await bench.profiles.create(world.operator, {
        workspace_id: world.workspaceId,
        name: 'Without our tools',
        runtime: 'passthrough',
        provider: 'scripted',
        model: 'scripted',
        system_prompt: '',
        max_output_tokens: null,
        context_window: null,
        fallback_models: [],
        budgets: {},
        hooks: {},
        parent_question_timeout_seconds: null,
        user_question_timeout_seconds: null,
      }),
    );
    const before = await bench.countTasks();
    const refusal = await bench.call(world.agent(creator), 'create_task_kandev', {
      prompt: 'Do it.',
      autopilot: true,
      profile_id: profile.id,
    });
    expect(refusal).toMatchObject({ isError: true, structured: { error: 'PROFILE_INCOMPATIBLE' } });
    expect(await bench.countTasks()).toBe(before);
  });

  test('a retry of the call returns the first task, and another body under its key is a mismatch [F8]', async () => {
    const creator = await world.task();
    const retry = { callId: 'call-1' };
    const first = await bench.succeed(world.agent(creator), 'create_task_kandev', { prompt: 'Do it.' }, retry);
    expect(await bench.succeed(world.agent(creator), 'create_task_kandev', { prompt: 'Do it.' }, retry)).toEqual({
      ...first,
      deduplicated: true,
    });
    const other = await bench.call(world.agent(creator), 'create_task_kandev', { prompt: 'Do it.', autopilot: true }, retry);
    expect(other).toMatchObject({ isError: true, structured: { error: 'IDEMPOTENCY_MISMATCH' } });
  });

  test('over MCP without a call id, the same arguments in the same turn are the same creation [K16]', async () => {
    const creator = await world.task();
    const { turn } = await world.openTurn(creator.sessionId);
    const first = await bench.succeed(world.agent(creator), 'create_task_kandev', { prompt: 'Do it.', title: 'It' }, { surface: 'mcp' });
    const again = await bench.succeed(world.agent(creator), 'create_task_kandev', { title: 'It', prompt: 'Do it.' }, { surface: 'mcp' });
    const other = await bench.succeed(world.agent(creator), 'create_task_kandev', { prompt: 'Do it.', title: 'Other' }, { surface: 'mcp' });
    const known = await bench.succeed(
      world.agent(creator, { callId: 'toolu_1', turnId: turn.id }),
      'create_task_kandev',
      { prompt: 'Do it.', title: 'It' },
      { surface: 'mcp' },
    );
    expect(again['id']).toBe(first['id']);
    expect(new Set([first['id'], other['id'], known['id']]).size).toBe(3);
  });

  test('an operator creates without a parent, and has no self', async () => {
    expect(
      await bench.succeed(world.operator, 'create_task_kandev', { prompt: 'Do it.', workspace_id: world.workspaceId }, { surface: 'mcp' }),
    ).toMatchObject({ parent_id: null });
    const refusal = await bench.callMcp(world.operator, 'create_task_kandev', { prompt: 'Do it.', parent_id: 'self' });
    expect(refusal).toMatchObject({ isError: true, structured: { error: 'INVALID_INPUT', details: { field: 'parent_id' } } });
  });
});
