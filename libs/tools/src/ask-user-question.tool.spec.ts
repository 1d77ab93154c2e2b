import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ASK, ToolBench } from '../../../test/support/tool-bench.js';
import { accepted, type World } from '../../../test/support/world.js';

let bench: ToolBench;
let world: World;

beforeAll(async () => {
  bench = await ToolBench.open();
  world = bench.world;
});
afterAll(() => bench.close());

describe('ask_user_question_kandev', () => {
  test('parks the loop until the operator answered, and the call run again returns the answer [V4]', async () => {
    const task = await world.task();
    const { turn } = await world.openTurn(task.sessionId);
    const actor = world.agent(task, { turnId: turn.id });
    const twoQuestions = { questions: [...ASK.questions, { id: 'why', prompt: 'Why?' }] };
    const pending = await bench.call(actor, 'ask_user_question_kandev', twoQuestions, { callId: 'call-1' });
    expect(pending).toMatchObject({ isError: false, parkedFor: pending.structured?.['question_id'] });
    expect(await bench.call(actor, 'ask_user_question_kandev', twoQuestions, { callId: 'call-1' })).toEqual(pending);
    const answers = { q1: 'Postgres', why: 'We have it.' };
    await bench.succeed(world.operator, 'answer_question_kandev', { question_id: pending.parkedFor, answers }, { surface: 'mcp' });
    const answered = await bench.succeed(actor, 'ask_user_question_kandev', twoQuestions, { callId: 'call-1' });
    expect(answered).toEqual({
      question_id: pending.parkedFor,
      status: 'answered',
      questions: {
        q1: { answered: true, rejected: false, option: 'Postgres' },
        why: { answered: true, rejected: false, text: 'We have it.' },
      },
    });
    expect(await bench.countQuestions(task)).toBe(1);
  });

  test('over MCP returns pending at once, and the same arguments give the answer later, in another turn too [V4]', async () => {
    const task = await world.task();
    const actor = world.agent(task, { callId: 'toolu_1' });
    const first = await world.openTurn(task.sessionId);
    const pending = await bench.succeed(actor, 'ask_user_question_kandev', ASK, { surface: 'mcp' });
    expect(pending).toEqual({
      question_id: expect.any(String),
      status: 'pending',
      instruction: expect.stringContaining('exactly the same arguments'),
    });
    await bench.succeed(
      world.operator,
      'answer_question_kandev',
      { question_id: pending['question_id'], rejected: true, reject_reason: 'Decide.' },
      { surface: 'mcp' },
    );
    await world.endTurn(first);
    await world.openTurn(task.sessionId);
    const later = { ...actor, callId: 'toolu_2' };
    expect(await bench.succeed(later, 'ask_user_question_kandev', ASK, { surface: 'mcp' })).toEqual({
      question_id: pending['question_id'],
      status: 'rejected',
      questions: { q1: { answered: false, rejected: true } },
      reject_reason: 'Decide.',
    });
    expect(await bench.countQuestions(task)).toBe(1);
  });

  test('that was taken back tells the agent to decide, and gives it no answer [V4]', async () => {
    const task = await world.task();
    const pending = await bench.succeed(world.agent(task), 'ask_user_question_kandev', ASK, { surface: 'mcp' });
    accepted(await world.services.questions.cancelUser(world.operator, String(pending['question_id'])));
    expect(await bench.succeed(world.agent(task), 'ask_user_question_kandev', ASK, { surface: 'mcp' })).toEqual({
      question_id: pending['question_id'],
      status: 'cancelled',
      questions: { q1: { answered: false, rejected: false } },
      instruction: expect.stringContaining('best judgment'),
    });
  });

  test('an autopilot task cannot ask the operator, although the name is known to it [D3]', async () => {
    const { child } = await bench.family();
    expect(await bench.callMcp(world.agent(child), 'ask_user_question_kandev', ASK)).toMatchObject({
      isError: true,
      structured: { error: 'TOOL_NOT_OFFERED' },
    });
    expect(await bench.countQuestions(child)).toBe(0);
  });
});

describe('what an operator answers', () => {
  test('is listed without the questions that wait for a parent, which no operator can answer [V3]', async () => {
    const { child } = await bench.family();
    const task = await world.task();
    await world.openTurn(child.sessionId);
    const toParent = await bench.callMcp(world.agent(child), 'ask_parent_question_kandev', ASK);
    const toUser = await bench.callMcp(world.agent(task), 'ask_user_question_kandev', ASK);
    for (const [of, ids] of [
      [child, []],
      [task, [toUser.structured?.['question_id']]],
    ] as const) {
      const { items } = await bench.succeed(world.operator, 'list_pending_questions_kandev', { task_id: of.id }, { surface: 'mcp' });
      expect((items as { readonly id: string }[]).map(({ id }) => id)).toEqual(ids);
    }
    const answers = { q1: 'Postgres' };
    const refusal = await bench.callMcp(world.operator, 'answer_question_kandev', {
      question_id: toParent.structured?.['question_id'],
      answers,
    });
    expect(refusal).toMatchObject({ isError: true, structured: { error: 'QUESTION_NOT_YOURS' } });
  });

  test('a second operator reads the first answer with claimed false [V4]', async () => {
    const task = await world.task();
    const asked = await bench.callMcp(world.agent(task), 'ask_user_question_kandev', ASK);
    const decide = (text: string) =>
      bench.succeed(
        world.operator,
        'answer_question_kandev',
        { question_id: asked.structured?.['question_id'], answers: { q1: text } },
        { surface: 'mcp' },
      );
    expect(await decide('Postgres')).toMatchObject({ claimed: true });
    expect(await decide('SQLite')).toMatchObject({ claimed: false, answers: { q1: 'Postgres' } });
    expect(await bench.call(world.agent(task), 'answer_question_kandev', { question_id: asked.structured?.['question_id'] })).toMatchObject(
      {
        structured: { error: 'FORBIDDEN' },
      },
    );
  });
});
