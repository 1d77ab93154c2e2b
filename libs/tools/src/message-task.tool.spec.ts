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

describe('message_task_kandev', () => {
  test('answers a question that get_task_kandev shows the direct parent, and a second answer delivers nothing [R1, R2]', async () => {
    const { parent, child } = await bench.family();
    const claimed = await world.openTurn(child.sessionId);
    await bench.call(world.agent(child, { turnId: claimed.turn.id }), 'ask_parent_question_kandev', ASK);
    await world.endTurn(claimed);
    const seen = await bench.succeed(world.agent(parent), 'get_task_kandev', { task_id: child.id });
    const question = seen['pending_question'] as { readonly id: string; readonly session_id: string };
    expect(question).toMatchObject({
      session_id: child.sessionId,
      context: ASK.context,
      questions: [{ id: 'q1', prompt: 'Which database?' }],
    });
    const reply = { task_id: child.id, session_id: question.session_id, reply_to_question_id: question.id, prompt: 'Postgres.' };
    const sent = await bench.succeed(world.agent(parent), 'message_task_kandev', reply);
    expect(sent).toEqual({
      task_id: child.id,
      session_id: child.sessionId,
      reply_to_question_id: question.id,
      status: expect.stringMatching(/^(sent|queued|started)$/),
      delivery_id: expect.any(String),
    });
    expect(await bench.succeed(world.agent(parent), 'message_task_kandev', { ...reply, prompt: 'SQLite.' })).toEqual({
      ...sent,
      status: 'already_answered',
    });
    expect(await bench.succeed(world.agent(parent), 'get_task_kandev', { task_id: child.id })).toMatchObject({ pending_question: null });
    expect(await world.claim(child.sessionId)).toMatchObject({ turn: { number: 2 } });
    expect(await world.tryClaim(child.sessionId)).toBeNull();
  });

  test('nobody but the direct parent reads the question with the task, and nobody else answers it [R4]', async () => {
    const grandparent = await world.task();
    const parent = await world.task({ parent: grandparent });
    const child = await world.task({ parent, autopilot: true });
    const others = [grandparent, child, await world.task({ parent }), await world.task()].map((task) => world.agent(task, { callId: 'x' }));
    await world.openTurn(child.sessionId);
    const asked = await bench.callMcp(world.agent(child), 'ask_parent_question_kandev', ASK);
    const reply = { task_id: child.id, reply_to_question_id: asked.structured?.['question_id'], prompt: 'SQLite.' };
    for (const actor of [...others, world.operator]) {
      expect(await bench.succeed(actor, 'get_task_kandev', { task_id: child.id }, { surface: 'mcp' })).not.toHaveProperty(
        'pending_question',
      );
      const refusal = await bench.callMcp(actor, 'message_task_kandev', reply);
      expect(refusal.isError).toBe(true);
      expect(refusal.text).not.toContain('database');
    }
    expect(await bench.succeed(world.agent(parent), 'get_task_kandev', { task_id: child.id })).toMatchObject({
      pending_question: { id: asked.structured?.['question_id'] },
    });
  });

  test('a blank question id is an ordinary message [R9]', async () => {
    const { parent, child } = await bench.family();
    const sent = await bench.succeed(world.agent(parent), 'message_task_kandev', {
      task_id: child.id,
      prompt: 'Go on.',
      reply_to_question_id: '  ',
    });
    expect(sent).toMatchObject({ task_id: child.id, session_id: child.sessionId, status: 'started' });
    expect(await world.entries(child.sessionId)).toMatchObject([{ kind: 'prompt', sender_task_id: parent.id }]);
  });

  test('is delivered once for one call, and twice for two calls with the same words [K16]', async () => {
    const { parent, child } = await bench.family();
    const message = { task_id: child.id, prompt: 'Go on.' };
    const first = await bench.succeed(world.agent(parent), 'message_task_kandev', message, { callId: 'call-1' });
    const retry = await bench.succeed(world.agent(parent), 'message_task_kandev', message, { callId: 'call-1' });
    const other = await bench.succeed(world.agent(parent), 'message_task_kandev', message, { callId: 'call-2' });
    expect(retry['delivery_id']).toBe(first['delivery_id']);
    expect(other['delivery_id']).not.toBe(first['delivery_id']);
    expect(await world.entries(child.sessionId)).toHaveLength(2);
  });
});
