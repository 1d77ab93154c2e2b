import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { HooksConfig } from '@echelon/contracts';
import { newId } from '@echelon/persistence';
import { createPlatform, type Platform, readConfig } from '@echelon/platform';
import { type AgentScript, scriptByAgent, type ScriptedRequest, startScriptedModel } from '@echelon/scripted-model';
import { createTestDatabase, waitFor } from '@echelon/testkit';

const operator = { kind: 'operator', tokenId: newId(), operatorId: newId(), name: 'Ada' } as const;
const AGENTS: Readonly<Record<string, AgentScript>> = {
  '[guarded]': [{ text: 'First.' }, { text: 'Second.' }],
  '[secret]': [{ text: 'Never asked.' }],
  '[worker]': [
    {
      toolCalls: [
        { name: 'run_command', arguments: { command: 'echo from the model' } },
        { name: 'write_file', arguments: { path: 'a.txt', content: 'a' } },
      ],
    },
    { text: 'Done.' },
  ],
  '[tireless]': () => ({ text: 'I stop here.' }),
};

interface Turn {
  readonly outcome: string | null;
  readonly outcome_detail: string | null;
}

let platform: Platform;
const asked: ScriptedRequest[] = [];
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  const storage = await createTestDatabase();
  closing.push(() => storage.drop());
  const folder = mkdtempSync(path.join(tmpdir(), 'echelon-worker-hooks-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const script = scriptByAgent(AGENTS);
  const model = await startScriptedModel({
    script: (request) => {
      asked.push(request);
      return script(request);
    },
  });
  closing.push(() => model.close());
  const settings = { DATABASE_URL: storage.url, ECHELON_DATA_DIR: folder, ECHELON_SCRIPTED_MODEL_URL: model.url };
  platform = await createPlatform(readConfig({ ...settings, ECHELON_LOG_LEVEL: 'silent' }), { worker: true });
  closing.push(() => platform.close());
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

function accepted<T extends object>(outcome: T): Extract<T, { readonly id: string }> {
  if (!('id' in outcome)) throw new Error(JSON.stringify(outcome));
  return outcome as Extract<T, { readonly id: string }>;
}

/** A task whose agent has these hooks, with its session and its folder. */
async function start(prompt: string, hooks: HooksConfig) {
  const { services, config, database } = platform;
  const workspace = accepted(await services.workspaces.create(operator, { name: newId() }));
  const place = { workspace_id: workspace.id };
  const told = { runtime: 'loop', provider: 'scripted', model: 'scripted', system_prompt: '', budgets: {} } as const;
  const waits = {
    fallback_models: [],
    max_output_tokens: null,
    context_window: null,
    parent_question_timeout_seconds: null,
    user_question_timeout_seconds: null,
  };
  const profile = accepted(await services.profiles.create(operator, { ...place, name: 'hooked', ...told, ...waits, hooks }));
  const rest = { autopilot: false, blocked_by: [], start_agent: true };
  const task = accepted(await services.tasks.create(operator, { ...place, profile_id: profile.id, prompt, ...rest }, null));
  const [row] = await database.query<{ folder: string }>('SELECT folder FROM task WHERE id = $1', [task.id]);
  return { taskId: task.id, sessionId: task.primary_session_id ?? '', folder: path.join(config.workspaceRoot, row?.folder ?? '') };
}

/** The outcomes of the session's turns, once there are so many. */
async function turnsOf(sessionId: string, count: number): Promise<readonly Turn[]> {
  const read = () =>
    platform.database.query<Turn>(
      `SELECT outcome, outcome_detail FROM turn WHERE session_id = $1 AND status = 'finished' ORDER BY number`,
      [sessionId],
    );
  return waitFor(`${count} turns are over`, async () => {
    const turns = await read();
    return turns.length === count ? turns : null;
  });
}

async function say(taskId: string, prompt: string): Promise<void> {
  await platform.services.messages.send(operator, taskId, { prompt, delivery_mode: 'queued' });
}

function requestsOf(marker: string): readonly ScriptedRequest[] {
  return asked.filter(({ messages }) => messages[0]?.text.includes(marker));
}

test('a blocked prompt ends its turn with the reason, and no model ever sees it; the next prompt goes on', async () => {
  const command = `if grep -q hunter2; then echo 'It holds a password.' >&2; exit 2; fi`;
  const { taskId, sessionId } = await start('[guarded] Start.', { prompt_submit: [{ matcher: 'user', command }] });
  expect(await turnsOf(sessionId, 1)).toMatchObject([{ outcome: 'completed' }]);
  await say(taskId, 'The password is hunter2.');
  expect((await turnsOf(sessionId, 2))[1]).toEqual({ outcome: 'prompt_blocked', outcome_detail: 'It holds a password.' });
  await say(taskId, 'Look it up yourself.');
  expect((await turnsOf(sessionId, 3))[2]).toMatchObject({ outcome: 'completed' });
  const requests = requestsOf('[guarded]');
  expect(requests).toHaveLength(2);
  expect(JSON.stringify(requests)).not.toContain('hunter2');
  const record = await platform.services.sessions.listMessages(operator, { sessionId, limit: 50 });
  expect(JSON.stringify(record)).toContain('hunter2');
});

test('an input is rewritten, a tool denied, a result marked and a batch commented on: the model reads all of it [G5.15]', async () => {
  const { sessionId, folder } = await start('[worker] Work.', {
    before_tool: [
      { matcher: 'run_command', command: `printf '%s' '{"input":{"command":"echo from the hook"}}'` },
      { matcher: 'write_*', command: ['sh', '-c', 'cat > told.json; echo "Only reading today." >&2; exit 2'] },
    ],
    after_tool: [{ command: `printf '%s' '{"additional_context":"Checked."}'` }, { command: 'exit 1' }],
    after_batch: [{ command: `printf '%s' '{"additional_context":"Mind the style guide."}'` }],
  });
  expect(await turnsOf(sessionId, 1)).toMatchObject([{ outcome: 'completed' }]);
  const results = requestsOf('[worker]')[1]?.messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
  expect(results).toEqual([
    'from the hook\n[exit code 0]\n\nChecked.',
    expect.stringContaining('Not executed: Only reading today.\n\nMind the style guide.'),
  ]);
  expect(JSON.parse(readFileSync(path.join(folder, 'told.json'), 'utf8'))).toMatchObject({
    ...{ version: 1, event: 'before_tool', session_id: sessionId, cwd: folder, tool_name: 'write_file' },
    input: { path: 'a.txt', content: 'a' },
  });
});

test('a stop hook sends the turn on eight times and no more [G6.4][G8.28]', async () => {
  const command = 'echo asked >> asked.txt; echo "Not yet." >&2; exit 2';
  const { sessionId, folder } = await start('[tireless] Go on.', { stop: [{ command }] });
  expect(await turnsOf(sessionId, 1)).toMatchObject([{ outcome: 'completed' }]);
  const requests = requestsOf('[tireless]');
  expect(requests).toHaveLength(9);
  expect(requests.at(-1)?.messages.filter(({ text }) => text === 'Not yet.')).toHaveLength(8);
  expect(readFileSync(path.join(folder, 'asked.txt'), 'utf8').trim().split('\n')).toHaveLength(9);
});
