import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CLIENTS, connectOld, type McpClient } from '../../../../test/support/mcp-clients.js';
import { type RunningServer, startServer, type TestAgent } from '../../../../test/support/running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const CELLS = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../../test/golden/tools/cells.json'), 'utf8')) as Readonly<
  Record<string, readonly string[]>
>;

/** The tools of a cell of the contract without those of the task's folder, which the loop alone has. */
function toolsOf(cell: string): readonly string[] {
  return (CELLS[`${cell}, task, loop`] ?? []).filter((name) => name.endsWith('_kandev'));
}

/** A message to the endpoint without any client in between. */
async function post(token: string, message: object): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(message),
  });
  return { status: response.status, text: await response.text() };
}

describe.each(CLIENTS)('%s', (_title, version, connect) => {
  let client: McpClient;
  async function as(token: string): Promise<McpClient> {
    client = await connect(server.url, token);
    return client;
  }

  test('connects, and sees exactly the tools of its token’s contract [D1]', async () => {
    const parent = await server.agent();
    const cells: readonly [TestAgent, readonly string[]][] = [
      [parent, toolsOf('normal, without a parent')],
      [await server.agent({ parent, autopilot: true }), toolsOf('autopilot, with a parent')],
      [await server.agent({ autopilot: true }), toolsOf('autopilot, without a parent')],
    ];
    for (const [agent, tools] of cells) {
      const connected = await as(agent.token);
      expect(connected.version).toBe(version);
      expect((await connected.list()).map(({ name }) => name)).toEqual(tools);
      await connected.close();
    }
  });

  test('an operator’s token has the external tools', async () => {
    const connected = await as(server.token);
    const names = (await connected.list()).map(({ name }) => name);
    expect(names).toContain('answer_question_kandev');
    expect(names).not.toContain('step_complete_kandev');
    expect(names).not.toContain('ask_parent_question_kandev');
    await connected.close();
  });

  test('delegates, asks, is answered once, all through tools', async () => {
    const parent = await server.agent();
    const asParent = await as(parent.token);
    const created = await asParent.call('create_task_kandev', { prompt: 'Build it.', autopilot: true });
    expect(created).toMatchObject({ isError: false, structured: { autopilot: true, parent_id: parent.taskId } });
    const taskId = String(created.structured?.['id']);
    const { secret } = await server.client.tokens.issue({ kind: 'session', label: 'child', task_id: taskId });
    const asChild = await connect(server.url, secret);
    const asked = await asChild.call('ask_parent_question_kandev', { questions: [{ prompt: 'Which one?' }] });
    expect(asked.structured).toMatchObject({ status: 'waiting_for_parent', parent_task_id: parent.taskId });
    const reply = { task_id: taskId, prompt: 'The first.', reply_to_question_id: asked.structured?.['question_id'] };
    const answered = await asParent.call('message_task_kandev', reply);
    expect(answered).toMatchObject({ isError: false, structured: { task_id: taskId } });
    const again = await asParent.call('message_task_kandev', { ...reply, prompt: 'The second.' });
    expect(again.structured).toMatchObject({ status: 'already_answered', delivery_id: answered.structured?.['delivery_id'] });
    await asChild.close();
    await asParent.close();
  });

  test('a call under the client’s own id creates once [K16]', async () => {
    const connected = await as((await server.agent()).token);
    for (const key of ['claudecode/toolUseId', 'callId']) {
      const meta = { [key]: `call-${randomUUID()}` };
      const first = await connected.call('create_task_kandev', { prompt: 'Once.' }, meta);
      const second = await connected.call('create_task_kandev', { prompt: 'Once.' }, meta);
      expect(first.structured).toMatchObject({ deduplicated: false });
      expect(second.structured).toMatchObject({ id: first.structured?.['id'], deduplicated: true });
    }
    await connected.close();
  });

  test('an argument that is not in the schema is refused by tool, path and rule, without its value [A6]', async () => {
    const parent = await server.agent();
    const connected = await as((await server.agent({ parent, autopilot: true })).token);
    const args = { questions: [{ prompt: '' }], parent_task_id: 's3cret' };
    const refused = await connected.call('ask_parent_question_kandev', args);
    expect(refused.isError).toBe(true);
    for (const named of [
      'Invalid arguments for ask_parent_question_kandev:',
      '- parent_task_id: unknown argument',
      '- questions[0].prompt: ',
    ])
      expect(refused.text).toContain(named);
    expect(refused.text).not.toMatch('s3cret');
    expect(await server.client.questions.list({ kind: 'parent', task_id: parent.taskId })).toMatchObject({ items: [] });
    await connected.close();
  });

  test('arguments over 1 MiB or 64 levels are refused by the limit, before anything walks through them [O35]', async () => {
    const connected = await as((await server.agent()).token);
    const nested = (levels: number): unknown => (levels === 0 ? 'end' : [nested(levels - 1)]);
    const cells: readonly [Record<string, unknown>, string, string][] = [
      [{ prompt: 'x'.repeat(1_048_576) }, 'LIMIT_EXCEEDED', 'at most 1048576 bytes'],
      [{ prompt: nested(64) }, 'LIMIT_EXCEEDED', 'at most 64 levels'],
      [{ prompt: nested(1_000) }, 'LIMIT_EXCEEDED', 'at most 64 levels'],
      [{ prompt: nested(63) }, 'INVALID_INPUT', 'prompt: '],
    ];
    for (const [args, error, rule] of cells) {
      const refused = await connected.call('create_task_kandev', args);
      expect(refused).toMatchObject({ isError: true, structured: { error } });
      expect(refused.text).toContain(rule);
    }
    await connected.close();
  });

  test('a question tool out of its contract answers with its typed refusal, another name is unknown [D3]', async () => {
    const question = { questions: [{ prompt: 'Which one?' }] };
    const cells: readonly [TestAgent, string, string][] = [
      [await server.agent(), 'ask_parent_question_kandev', 'NOT_AUTOPILOT'],
      [await server.agent({ autopilot: true }), 'ask_parent_question_kandev', 'NO_PARENT'],
      [await server.agent({ autopilot: true }), 'ask_user_question_kandev', 'TOOL_NOT_OFFERED'],
    ];
    for (const [agent, tool, code] of cells) {
      const connected = await as(agent.token);
      const refused = await connected.call(tool, question);
      expect(refused.isError).toBe(true);
      expect(refused.text).toMatch(code);
      await expect(connected.call('answer_question_kandev', {})).rejects.toThrow(
        /Unknown tool answer_question_kandev\. Nearest names: \w+/,
      );
      await connected.close();
    }
    const operator = await as(server.token);
    expect((await operator.call('ask_parent_question_kandev', question)).text).toMatch('TOOL_NOT_OFFERED');
    await operator.close();
  });
});

describe('the endpoint', () => {
  test('tools ask to be loaded at once, are strict, and say what they do', async () => {
    const client = await connectOld(server.url, (await server.agent()).token);
    for (const tool of await client.list()) {
      expect(tool._meta).toEqual({ 'anthropic/alwaysLoad': true });
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.annotations).toMatchObject({ openWorldHint: false });
      expect(tool.title).toBeTruthy();
    }
    await client.close();
  });

  test('an unknown token, an ended session and a missing token are 401 with the scheme', async () => {
    const agent = await server.agent();
    await server.client.tasks.stop(agent.taskId);
    await server.client.tasks.update(agent.taskId, { state: 'completed' });
    for (const token of ['nonsense', agent.token]) expect((await post(token, {})).status).toBe(401);
    const bare = await fetch(`${server.url}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect(bare.status).toBe(401);
    expect(bare.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  test('malformed JSON is a JSON-RPC parse error, and a session operation of 2025 is not allowed', async () => {
    const headers = {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const broken = await fetch(`${server.url}/mcp`, { method: 'POST', headers, body: '{"jsonrpc' });
    expect(broken.status).toBe(400);
    expect(await broken.text()).toMatch('-32700');
    expect((await fetch(`${server.url}/mcp`, { headers })).status).toBe(405);
    expect((await fetch(`${server.url}/mcp`, { method: 'DELETE', headers })).status).toBe(405);
  });

  test('a call without initialize and without the protocol header is served, as some clients send it', async () => {
    const answer = await post(server.token, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch('create_task_kandev');
  });

  test('NUL and lone surrogates reach no tool [K19]', async () => {
    const client = await connectOld(server.url, (await server.agent()).token);
    const created = await client.call('create_task_kandev', { prompt: 'a\u0000b', start_agent: false });
    expect((await server.client.tasks.get(String(created.structured?.['id']))).prompt).toBe('a\ufffdb');
    await client.close();
  });

  test('what nobody expected of a tool is logged, and the model learns only its id', async () => {
    const own = await startServer();
    try {
      const client = await connectOld(own.url, own.token);
      await own.asOwner('ALTER TABLE agent_profile RENAME TO elsewhere');
      const failed = await client.call('list_agents_kandev');
      const [logged] = own.errors as readonly { readonly errorId: string }[];
      expect(failed).toMatchObject({ isError: true, structured: { error: 'INTERNAL' } });
      expect(failed.text).toMatch(logged!.errorId);
      expect(failed.text).not.toMatch('agent_profile');
      await client.close();
    } finally {
      await own.stop();
    }
  });

  test('a late notice of cancellation is accepted, as some clients send one after every call', async () => {
    const params = { requestId: 1, reason: 'done' };
    expect((await post(server.token, { jsonrpc: '2.0', method: 'notifications/cancelled', params })).status).toBe(202);
  });

  test('calls are counted by tool and result', async () => {
    const client = await connectOld(server.url, server.token);
    await client.call('list_tasks_kandev');
    await client.close();
    expect(await server.metrics.registry.metrics()).toMatch('echelon_mcp_calls_total{tool="list_tasks_kandev",result="ok"}');
  });
});
