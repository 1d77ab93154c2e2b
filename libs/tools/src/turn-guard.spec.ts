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

describe('a turn that asked', () => {
  test('has every later call refused except reads and the ask itself, also after a fast answer [A16, K6b]', async () => {
    const { parent, child } = await bench.family();
    await world.openTurn(child.sessionId);
    const actor = world.agent(child);
    const asked = await bench.callMcp(actor, 'ask_parent_question_kandev', ASK);
    await bench.answer({ parent, child }, asked);
    const writes: readonly (readonly [string, object])[] = [
      ['create_task_kandev', { prompt: 'Do it.' }],
      ['update_task_kandev', { task_id: child.id, title: 'Other' }],
      ['message_task_kandev', { task_id: parent.id, prompt: 'Well?' }],
      ['stop_task_kandev', { task_id: parent.id }],
      ['archive_task_kandev', { task_id: parent.id }],
      ['step_complete_kandev', { summary: 'Done.' }],
      ['ask_user_question_kandev', ASK],
    ];
    const before = await bench.countTasks();
    for (const [name, input] of writes) {
      const result = await bench.callMcp(actor, name, input);
      expect([name, result]).toMatchObject([name, { isError: true, endsTurn: true, structured: { error: 'TURN_ENDED_BY_QUESTION' } }]);
    }
    expect(await bench.countTasks()).toBe(before);
    expect(await bench.succeed(actor, 'get_task_kandev', {}, { surface: 'mcp' })).toMatchObject({ id: child.id, title: 'The child' });
    expect(await bench.callMcp(actor, 'ask_parent_question_kandev', ASK)).toEqual(asked);
  });

  test('stays ended for an agent that goes on after its turn was settled [A16]', async () => {
    const { child } = await bench.family();
    const claimed = await world.openTurn(child.sessionId);
    await bench.call(world.agent(child, { turnId: claimed.turn.id }), 'ask_parent_question_kandev', ASK);
    await world.endTurn(claimed);
    expect(await world.sessionRow(child.sessionId)).toMatchObject({ state: 'waiting_for_input' });
    const result = await bench.callMcp(world.agent(child), 'create_task_kandev', { prompt: 'Do it.' });
    expect(result).toMatchObject({ isError: true, structured: { error: 'TURN_ENDED_BY_QUESTION' } });
  });

  test('a turn that cannot be read is refused, not waved through', async () => {
    const { child } = await bench.family();
    const stray = world.agent(child, { turnId: crypto.randomUUID() });
    expect(await bench.callMcp(stray, 'create_task_kandev', { prompt: 'Do it.' })).toMatchObject({
      isError: true,
      structured: { error: 'NOT_FOUND' },
    });
  });
});
