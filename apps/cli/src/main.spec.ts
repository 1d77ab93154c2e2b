import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { main } from '@echelon/cli';
import { type RunningServer, startServer } from '../../../test/support/running-server.js';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
  const workspace = await server.client.workspaces.create({ name: 'cli' });
  await server.client.profiles.create({ workspace_id: workspace.id, name: 'default', provider: 'scripted', model: 'any' });
});
afterAll(() => server.stop());

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(args: readonly string[], options: { readonly token?: string; readonly url?: string } = {}): Promise<Run> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const globals = ['--url', options.url ?? server.url, '--token', options.token ?? server.token];
  const code = await main(['node', 'echelon', ...globals, ...args], { out, err, interactive: false });
  return { code, out: String(out.read() ?? ''), err: String(err.read() ?? '') };
}

async function json<T>(args: readonly string[]): Promise<T> {
  const { code, out, err } = await run([...args, '--json']);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as T;
}

interface CreatedTask {
  readonly id: string;
  readonly deduplicated: boolean;
  readonly autopilot: boolean;
}

describe('echelon task', () => {
  test('creates once for a key, shows and lists', async () => {
    const first = await json<CreatedTask>(['task', 'create', 'Say hello.', '--key', 'k1', '--title', 'Hello']);
    const again = await json<CreatedTask>(['task', 'create', 'Say hello.', '--key', 'k1', '--title', 'Hello']);
    expect(again).toMatchObject({ id: first.id, deduplicated: true });
    expect(await json(['task', 'show', first.id])).toMatchObject({ id: first.id, title: 'Hello', autopilot: false });
    const { out } = await run(['task', 'list']);
    expect(out).toContain(first.id);
    expect(out).toContain('Hello');
  });

  test('prints the plan of a task, and of its plan the title and revision with the task', async () => {
    const { id } = await json<CreatedTask>(['task', 'create', 'Plan it.']);
    expect((await run(['task', 'plan', id])).out).toBe('No plan.\n');
    expect(await json(['task', 'show', id])).toMatchObject({ plan: null });
    await server.client.tasks.putPlan(id, { content: '1. Look.', title: 'Steps' });
    expect((await run(['task', 'plan', id])).out).toBe('1. Look.\n');
    expect(await json(['task', 'show', id])).toMatchObject({ id, plan: { title: 'Steps', revision: 1 } });
    expect((await run(['task', 'show', id])).out).toMatch(/^plan +Steps \(revision 1\)$/m);
  });

  test('creates an autopilot subtask [F4]', async () => {
    const parent = await json<CreatedTask>(['task', 'create', 'Lead.']);
    const child = await json<CreatedTask>(['task', 'create', 'Follow.', '--parent', parent.id, '--autopilot']);
    expect(child.autopilot).toBe(true);
    expect((await json<{ items: readonly CreatedTask[] }>(['task', 'list', '--parent', parent.id])).items.map(({ id }) => id)).toEqual([
      child.id,
    ]);
  });

  test('messages and stops', async () => {
    const task = await json<CreatedTask>(['task', 'create', 'Wait.', '--no-start']);
    expect(await json(['task', 'message', task.id, 'Go on.'])).toMatchObject({ status: 'started' });
    expect((await run(['task', 'stop', task.id])).out).toMatch(/^(stopped|not_running)/);
  });

  test('pages with the cursor that it prints', async () => {
    const page = await json<{ next_cursor: string | null; items: readonly CreatedTask[] }>(['task', 'list', '--limit', '1']);
    const next = await json<{ items: readonly CreatedTask[] }>(['task', 'list', '--limit', '1', '--cursor', page.next_cursor ?? '']);
    expect(next.items[0]?.id).not.toBe(page.items[0]?.id);
  });
});

describe('a question for the operator', () => {
  test('is listed and answered once', async () => {
    const agent = await server.agent();
    const authenticated = await server.services.tokens.authenticate(agent.token);
    if (authenticated?.actor.kind !== 'agent') throw new Error("the token is no agent's");
    await server.services.questions.askUser(authenticated.actor, { questions: [{ prompt: 'Delete it?' }] }, 'c');
    const { items } = await json<{ items: readonly { id: string }[] }>(['question', 'list']);
    const id = items[0]?.id ?? '';
    expect(await json(['question', 'answer', id, 'Yes.'])).toMatchObject({ claimed: true, status: 'answered' });
    expect(await json(['question', 'answer', id, 'No.'])).toMatchObject({ claimed: false, answers: { q1: 'Yes.' } });
  });
});

describe('echelon queue', () => {
  test('lists, edits, moves and takes out what waits; pauses and resumes the session', async () => {
    const { taskId, sessionId } = await server.agent();
    await server.client.tasks.sendMessage(taskId, { prompt: 'Later.' });
    const listed = await json<{ items: readonly { id: string; revision: number; text: string }[] }>(['queue', 'list', sessionId]);
    expect(listed.items.map(({ text }) => text)).toEqual(['Do it.', 'Later.']);
    const [first = { id: '' }, second = { id: '' }] = listed.items;
    const edit = ['queue', 'edit', sessionId, second.id, '--text', 'Now.', '--revision'];
    expect(await json([...edit, '1'])).toMatchObject({ text: 'Now.', revision: 2 });
    expect((await run(['queue', 'edit', sessionId, second.id, '--text', 'Never.', '--revision', '1'])).err).toContain('CONFLICT');
    await json(['queue', 'move', sessionId, second.id, '--before', first.id]);
    expect(await json(['queue', 'list', sessionId])).toMatchObject({ items: [{ text: 'Now.' }, { text: 'Do it.' }] });
    expect(await json(['queue', 'remove', sessionId, first.id])).toMatchObject({ state: 'cancelled' });
    expect(await json(['queue', 'pause', sessionId])).toMatchObject({ auto_run: false });
    expect(await json(['queue', 'resume', sessionId])).toMatchObject({ auto_run: true });
  });
});

describe('a chain of questions', () => {
  test('is shown in its order, and what operators were told of it is listed and acknowledged [R14]', async () => {
    const root = await server.agent();
    const middle = await server.agent({ parent: root, autopilot: true });
    const leaf = await server.agent({ parent: middle, autopilot: true });
    await server.client.sessions.setAutoRun(middle.sessionId, false);
    const actorOf = async ({ token }: { token: string }) => {
      const caller = await server.services.tokens.authenticate(token);
      if (caller?.actor.kind !== 'agent') throw new Error("the token is no agent's");
      return caller.actor;
    };
    const asked = await server.services.questions.askParent(await actorOf(leaf), { questions: [{ prompt: 'Which?' }] }, 'k');
    if ('refused' in asked) throw new Error(asked.code);
    const shown = await run(['question', 'show', asked.question_id]);
    expect(shown.out).toContain(`hop 1: ${asked.question_id}  ${leaf.taskId} → ${middle.taskId}  pending`);
    expect(await json(['question', 'show', asked.question_id])).toMatchObject({ chain: [{ id: asked.question_id }] });
    const told = await json<{ items: readonly { id: string }[] }>(['notification', 'list']);
    expect(told.items).toMatchObject([{ reason: 'question_to_paused_parent', question_id: asked.question_id, task_id: middle.taskId }]);
    await json(['notification', 'acknowledge', told.items[0]?.id ?? '']);
    expect((await run(['notification', 'list'])).out).toBe('No notifications.\n');
  });
});

describe('echelon token and connect', () => {
  test('issue a token that works, and revoke it', async () => {
    const issued = await json<{ id: string; secret: string }>(['token', 'issue', '--label', 'spec']);
    expect((await run(['task', 'list'], { token: issued.secret })).code).toBe(0);
    await run(['token', 'revoke', issued.id]);
    expect(await run(['task', 'list'], { token: issued.secret })).toMatchObject({
      code: 1,
      err: expect.stringContaining('UNAUTHENTICATED') as unknown,
    });
    expect((await run(['token', 'list'])).out).not.toContain(issued.secret);
  });

  test.each(['claude-code', 'codex', 'qwen', 'gemini'])('prints the configuration of %s for a task’s session', async (client) => {
    const agent = await server.agent();
    const { out, code } = await run(['connect', client, '--task', agent.taskId]);
    expect(code).toBe(0);
    expect(out).toContain(`${server.url}/mcp`);
    expect(out).toMatch(/Bearer ech_ag_/);
  });
});

describe('echelon workspace and profile', () => {
  interface Created {
    readonly id: string;
  }

  test('create, show and list workspaces page by page', async () => {
    const created = await json<Created>(['workspace', 'create', 'garden']);
    expect(await json(['workspace', 'show', created.id])).toMatchObject({ id: created.id, name: 'garden' });
    const page = await json<{ items: readonly Created[]; next_cursor: string }>(['workspace', 'list', '--limit', '1']);
    const next = await json<{ items: readonly Created[] }>(['workspace', 'list', '--cursor', page.next_cursor]);
    expect([...page.items, ...next.items].map(({ id }) => id)).toContain(created.id);
    expect((await run(['workspace', 'list'])).out).toContain('garden');
  });

  test('create, change and archive profiles, and a task runs on the one that it names', async () => {
    const workspace = await json<Created>(['workspace', 'create', 'kitchen']);
    const create = ['profile', 'create', 'cook', '--workspace', workspace.id, '--provider', 'scripted', '--model', 'any'];
    const profile = await json<Created>([
      ...create,
      '--fallback-model',
      'one',
      'two',
      '--max-output-tokens',
      '900',
      '--context-window',
      '32000',
    ]);
    const task = await json<Created>(['task', 'create', 'Cook.', '--workspace', workspace.id, '--profile', profile.id, '--no-start']);
    expect(await json(['task', 'list', '--workspace', workspace.id])).toMatchObject({ items: [{ id: task.id, profile_id: profile.id }] });
    const changes = ['--name', 'chef', '--model', 'other', '--system-prompt', ''];
    expect(await json(['profile', 'update', profile.id, ...changes])).toMatchObject({
      name: 'chef',
      model: 'other',
      max_output_tokens: 900,
      context_window: 32_000,
    });
    expect(await json(['profile', 'show', profile.id])).toMatchObject({ name: 'chef', fallback_models: ['one', 'two'] });
    expect((await run(['profile', 'list', '--workspace', workspace.id])).out).toBe(`${profile.id}  chef  loop  scripted other\n`);
    await json(['profile', 'archive', profile.id]);
    expect((await run(['profile', 'show', profile.id])).out).toMatch(/^archived_at +\d{4}-/m);
  });

  test('read the hooks of a profile from a file, and say what is wrong with one', async () => {
    const workspace = await json<Created>(['workspace', 'create', 'workshop']);
    const folder = await mkdtemp(join(tmpdir(), 'echelon-hooks-'));
    const file = join(folder, 'hooks.json');
    const hooks = { before_tool: [{ matcher: 'run_command', command: ['./check.sh'] }] };
    await writeFile(file, JSON.stringify(hooks));
    const create = ['profile', 'create', 'checked', '--workspace', workspace.id, '--provider', 'scripted', '--model', 'any'];
    const profile = await json<Created>([...create, '--hooks', file]);
    expect(await json(['profile', 'show', profile.id])).toMatchObject({ hooks });
    await writeFile(file, '{ "stop": [{ "url": "ftp://example.org" }] }');
    const refused = await run(['profile', 'update', profile.id, '--hooks', file]);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('The hooks are not well formed: hooks.stop.0.url: ') });
    await writeFile(file, '{}');
    expect(await json(['profile', 'update', profile.id, '--hooks', file])).toMatchObject({ hooks: {} });
    await rm(folder, { recursive: true });
  });
});

describe('what goes wrong', () => {
  test('a refusal is one sentence that begins with its code, and in JSON names it', async () => {
    const unknown = ['task', 'show', '01a22a24-dfc3-73b2-8e05-0536619969eb'];
    expect(await run(unknown)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^NOT_FOUND: .*\n$/) as unknown });
    const { code, out, err } = await run([...unknown, '--json']);
    expect({ code, out, ...(JSON.parse(err) as object) }).toMatchObject({ code: 'NOT_FOUND', exit_code: 1, out: '' });
  });

  test('a server that is not there', async () => {
    const failed = await run(['task', 'list'], { url: 'http://127.0.0.1:1' });
    expect(failed).toMatchObject({ code: 3, err: expect.stringContaining('Is Echelon running?') as unknown });
  });

  test('help is no failure', async () => {
    const help = await run(['--help']);
    expect(help.code).toBe(0);
    expect(help.out).toMatch(/demo.*\n.*task/s);
  });
});

test('doctor --limits shows every limit and how long things are kept, as they are in force [O31]', async () => {
  const listed = await json<Record<'limits' | 'retention', readonly { name: string; value: number; code: string | null }[]>>([
    'doctor',
    '--limits',
  ]);
  expect(listed.limits).toContainEqual(expect.objectContaining({ name: 'depth', value: 16, code: 'DEPTH_EXCEEDED' }));
  expect(listed.retention).toContainEqual(expect.objectContaining({ name: 'events', value: 7 }));
  const { out } = await run(['doctor', '--limits']);
  expect(out).toMatch(/^children_per_task +200 tasks +TOO_MANY_CHILDREN +ECHELON_LIMIT_CHILDREN_PER_TASK +direct children of a task$/m);
  expect(out).toMatch(/^audit: never deleted$/m);
});
