import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ASK, ToolBench } from '../../../test/support/tool-bench.js';
import { type TestTask, type World } from '../../../test/support/world.js';

let bench: ToolBench;
let world: World;

beforeAll(async () => {
  bench = await ToolBench.open();
  world = bench.world;
});
afterAll(() => bench.close());

describe('ask_parent_question_kandev', () => {
  test('ends the turn with one pending question and an entry for the parent [A1]', async () => {
    const { parent, child } = await bench.family();
    const { turn } = await world.openTurn(child.sessionId);
    const result = await bench.call(world.agent(child, { turnId: turn.id }), 'ask_parent_question_kandev', ASK);
    expect(result).toMatchObject({
      isError: false,
      endsTurn: true,
      structured: { parent_task_id: parent.id, status: 'waiting_for_parent' },
    });
    expect(result.text).toContain('End your turn now');
    const [entry] = await world.entries(parent.sessionId);
    expect(entry).toMatchObject({ kind: 'question', question_id: result.structured?.['question_id'] });
    expect(entry?.text).toContain('> Which database?');
  });

  test('a retry of the call returns the same question, also after its answer [A2, K16]', async () => {
    const { parent, child } = await bench.family();
    const { turn } = await world.openTurn(child.sessionId);
    const actor = world.agent(child, { turnId: turn.id });
    const first = await bench.call(actor, 'ask_parent_question_kandev', ASK, { callId: 'call-1' });
    await bench.answer({ parent, child }, first);
    expect(await bench.call(actor, 'ask_parent_question_kandev', ASK, { callId: 'call-1' })).toEqual(first);
    expect(await bench.countQuestions(child)).toBe(1);
  });

  test('over MCP without a call id, the same ask in the same turn is a retry [A2, K16]', async () => {
    const { parent, child } = await bench.family();
    await world.openTurn(child.sessionId);
    const first = await bench.callMcp(world.agent(child), 'ask_parent_question_kandev', ASK);
    await bench.answer({ parent, child }, first);
    expect(await bench.callMcp(world.agent(child), 'ask_parent_question_kandev', ASK)).toEqual(first);
    expect(await bench.countQuestions(child)).toBe(1);
  });

  test('tasks that may not ask get a typed refusal although the name is known to them, and nothing is stored [A5, D3]', async () => {
    const normal = (await bench.family({ autopilot: false })).child;
    const root = await world.task({ autopilot: true });
    const cases: readonly (readonly [TestTask, string])[] = [
      [normal, 'NOT_AUTOPILOT'],
      [root, 'NO_PARENT'],
    ];
    for (const [task, code] of cases) {
      const result = await bench.callMcp(world.agent(task), 'ask_parent_question_kandev', ASK);
      expect(result).toMatchObject({ isError: true, structured: { error: code } });
      expect(result.text).toMatch(new RegExp(`^${code}: `));
      expect(await bench.countQuestions(task)).toBe(0);
    }
  });

  test('an operator token is refused', async () => {
    expect(await bench.callMcp(world.operator, 'ask_parent_question_kandev', ASK)).toMatchObject({
      isError: true,
      structured: { error: 'FORBIDDEN' },
    });
  });
});
