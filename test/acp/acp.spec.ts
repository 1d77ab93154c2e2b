import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Task } from '@echelon/contracts';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { findViolations } from '../support/invariants.js';
import { AcpWorld, agentCommand, script, type Turns } from './acp-world.js';

jest.setTimeout(240_000);

const CELLS = JSON.parse(readFileSync(path.join(import.meta.dirname, '../golden/tools/cells.json'), 'utf8')) as Readonly<
  Record<string, readonly string[]>
>;
const ASK = { do: 'call', tool: 'ask_parent_question_kandev', arguments: { questions: [{ prompt: 'Which language?' }] } } as const;
const DONE = { do: 'call', tool: 'step_complete_kandev', arguments: { summary: 'Done.' } } as const;

let world: AcpWorld;
beforeAll(async () => {
  world = await AcpWorld.open();
});
afterAll(() => world.close());

async function outcomesOf(task: Task, turns: number): Promise<readonly (string | null)[]> {
  return (await world.ended(task.primary_session_id, turns)).map(({ outcome }) => outcome);
}

/** What the first turn of a session's agent says that it was given. */
async function describedBy(sessionId: string | null): Promise<Readonly<Record<'servers' | 'tools' | 'variables' | 'cwd', unknown>>> {
  await world.ended(sessionId);
  return JSON.parse((await world.said(sessionId))[0] ?? '') as Awaited<ReturnType<typeof describedBy>>;
}

/** A parent that delegates to an autopilot child, which plays the turns. */
async function delegate(child: Turns, parent: Turns = []): Promise<{ readonly parent: Task; readonly child: Task }> {
  const delegation = { title: 'The child', prompt: script('Write.', child), autopilot: true, workspace_mode: 'new_workspace' };
  const create = { do: 'call', tool: 'create_task_kandev', arguments: { ...delegation, profile_id: world.profile_id } } as const;
  const task = await world.task([[create], ...parent]);
  const found = await world.waitFor('the child', async () => (await world.api.tasks.list({ parent_id: task.id })).items[0]);
  return { parent: task, child: found };
}

describe('an agent over ACP', () => {
  test('delegates to another, which asks it, is answered once, and goes on in its next turn [A1, A17, R1, D4]', async () => {
    const reply = { task_id: '$task_id', session_id: '$session_id', reply_to_question_id: '$reply_to_question_id', prompt: 'German.' };
    const { parent, child } = await delegate(
      [[ASK], [{ do: 'write', file: 'greeting.txt', text: 'Hallo!\n' }, DONE]],
      [[{ do: 'call', tool: 'message_task_kandev', arguments: reply }], [DONE]],
    );
    await world.waitFor('the end of the parent', async () => (await world.api.tasks.get(parent.id)).state === 'completed');
    expect(await outcomesOf(child, 2)).toEqual(['tool_ended_turn', 'completed']);
    expect(await outcomesOf(parent, 3)).toEqual(['completed', 'completed', 'completed']);
    expect(await world.api.tasks.get(child.id)).toMatchObject({ state: 'completed', result: 'Done.', autopilot: true });
    expect(world.promptOf(child, 2)).toContain('German.');
    expect(readFileSync(path.join(world.folderOf(child), 'greeting.txt'), 'utf8')).toBe('Hallo!\n');
    expect((await world.api.questions.list({ kind: 'parent', task_id: child.id })).items).toMatchObject([{ status: 'answered' }]);
    expect(await findViolations(world.story.database)).toEqual({});
  });

  test('that goes on after its question is refused what it calls, and cancelled [A16]', async () => {
    const { child } = await delegate([[ASK, DONE, { do: 'work' }]]);
    expect(await outcomesOf(child, 1)).toEqual(['tool_ended_turn']);
    const calls = 'SELECT name, is_error, result FROM tool_call WHERE session_id = $1 ORDER BY round, index';
    expect(await world.story.rows(calls, [child.primary_session_id])).toMatchObject([
      { name: 'ask_parent_question_kandev', is_error: false },
      { name: 'step_complete_kandev', is_error: true, result: expect.stringContaining('TURN_ENDED_BY_QUESTION') },
    ]);
    expect(await world.api.tasks.get(child.id)).toMatchObject({ state: 'waiting', pending_action: 'clarification' });
  });

  test('asks its operator, ends its turn, and hears of the decision with the next one [V4]', async () => {
    const ask = { do: 'call', tool: 'ask_user_question_kandev', arguments: { questions: [{ prompt: 'Which?' }] } } as const;
    const task = await world.task([[ask, { do: 'work' }], [{ do: 'say', text: 'Thank you.' }]]);
    expect(await outcomesOf(task, 1)).toEqual(['tool_ended_turn']);
    expect(await world.api.tasks.get(task.id)).toMatchObject({ pending_action: 'clarification' });
    const [question] = (await world.api.questions.list({ kind: 'user', task_id: task.id })).items;
    await world.api.questions.answer(question!.id, { answers: { q1: 'This one.' } });
    expect(await outcomesOf(task, 2)).toEqual(['tool_ended_turn', 'completed']);
    expect(world.promptOf(task, 2)).toContain('> This one.');
  });

  test('is stored with what it says, calls and uses, and its token is void with its turn [K4]', async () => {
    const task = await world.task([[{ do: 'say', text: 'One, ' }, { do: 'say', text: 'two.' }, DONE, { do: 'say', text: 'Three.' }]]);
    const [turn] = await world.ended(task.primary_session_id);
    expect(turn).toMatchObject({ outcome: 'completed', rounds: 2, input_tokens: 100, output_tokens: 20 });
    expect(await world.said(task.primary_session_id)).toEqual(['One, two.', 'Three.']);
    const live = `SELECT count(*)::int AS live FROM api_token k JOIN turn t ON t.id = k.turn_id WHERE k.session_id = $1 AND t.status <> 'finished'`;
    expect(await world.story.one(live, [task.primary_session_id])).toEqual({ live: 0 });
  });

  test.each([
    ['max_tokens', 'output_limit'],
    ['max_turn_requests', 'budget_exhausted'],
    ['refusal', 'prompt_blocked'],
    ['cancelled', 'cancelled'],
  ] as const)('that stops with %s ends its turn as %s', async (reason, outcome) => {
    const task = await world.task([
      [
        { do: 'say', text: 'I begin.' },
        { do: 'end', reason },
      ],
    ]);
    expect((await world.ended(task.primary_session_id))[0]).toMatchObject({ outcome, raw_finish_reason: reason });
  });

  test('may read, and is refused once what only a person could allow: nothing is allowed in silence', async () => {
    const task = await world.task([(['read', 'edit', 'execute'] as const).map((kind) => ({ do: 'ask_permission', kind }))]);
    const [turn] = await world.ended(task.primary_session_id);
    expect((await world.said(task.primary_session_id)).join('')).toBe('read: yes.edit: no.execute: no.');
    const audited = await world.story.rows(
      `SELECT detail->>'tool' AS tool FROM audit WHERE action = 'permission.reject' AND subject = $1`,
      [turn!.id],
    );
    expect(audited).toEqual([{ tool: 'a tool that is edit' }, { tool: 'a tool that is execute' }]);
  });
});

describe('what the agent is given', () => {
  const claims = 'You are on autopilot, your parent is waiting, and ask_parent_question_kandev and wait_for_messages_kandev are yours.';
  const turns: Turns = [[{ do: 'describe' }]];

  test.each([
    ['normal, without a parent', false, false],
    ['normal, with a parent', false, true],
    ['autopilot, without a parent', true, false],
    ['autopilot, with a parent', true, true],
  ])('are the tools of its contract and no others, whatever its prompt claims: %s [D1, D4]', async (cell, autopilot, hasParent) => {
    const parent = hasParent ? await world.task([]) : null;
    const task = await world.task(turns, { words: claims, autopilot, ...(parent ? { parent_id: parent.id } : {}) });
    const given = await describedBy(task.primary_session_id);
    expect(given).toMatchObject({ servers: 1, cwd: world.folderOf(task), tools: CELLS[`${cell}, task, acp`] });
  });

  test.each([
    ['config', 1],
    ['quick_chat', 0],
    ['utility', 0],
  ] as const)('in a session of another kind is what that offers: %s [D1, D4]', async (kind, servers) => {
    const task = await world.task([[], ...turns]);
    await world.ended(task.primary_session_id);
    const session = await world.api.tasks.spawnSession(task.id, { kind, prompt: claims });
    const given = await describedBy(session.id);
    expect(given).toMatchObject({ servers, tools: CELLS[`normal, without a parent, ${kind}, acp`] });
  });

  test('of variables are the few that every command sees, and those that the deployment names', async () => {
    const { variables } = await describedBy((await world.task(turns)).primary_session_id);
    expect(variables).toContain('ECHELON_TEST_SHOWN');
    expect(variables).toContain('HOME');
    for (const hidden of ['DATABASE_URL', 'ECHELON_TEST_HIDDEN', 'ECHELON_DATA_DIR']) expect(variables).not.toContain(hidden);
  });
});

describe('an agent that cannot begin', () => {
  test.each([
    ['a program that is not there', ['/no/such/agent'], /ended with code 127/],
    ['one that takes no MCP server over HTTP', agentCommand('--no-http'), /takes no MCP server over HTTP/],
    ['one that speaks no ACP', ['/bin/true'], /ended with code 0/],
  ])('ends its turn with an error that says why, and its prompt is not sent: %s', async (title, command, why) => {
    const { id: profile_id } = await world.profile(title, command);
    const task = await world.task([], { profile_id });
    const [turn] = await world.ended(task.primary_session_id);
    expect(turn).toMatchObject({ outcome: 'error', outcome_detail: expect.stringMatching(why) });
    expect(world.hasPrompt(task, 1)).toBe(false);
  });
});

describe('the next turn of an agent', () => {
  test.each([
    ['goes on in the same session', '', false],
    ['loads the session, and what is told again is not stored again', '--load', false],
    ['begins a new session and reads what was said before', '--forgetful', true],
  ] as const)('%s', async (_title, flag, recalled) => {
    const { id: profile_id } = await world.profile(`next ${flag}`, agentCommand(...(flag ? [flag] : [])));
    const task = await world.task([[{ do: 'say', text: 'The first answer.' }], [{ do: 'say', text: 'The second.' }]], { profile_id });
    await world.ended(task.primary_session_id);
    await world.api.tasks.sendMessage(task.id, { prompt: 'And now?' });
    await world.ended(task.primary_session_id, 2);
    expect(await world.said(task.primary_session_id)).toEqual(['The first answer.', 'The second.']);
    expect(world.promptOf(task, 2)).toContain('And now?');
    expect(world.promptOf(task, 2).includes('You: The first answer.')).toBe(recalled);
  });
});
