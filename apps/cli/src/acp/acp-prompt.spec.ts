import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { scriptByPrompt, type ScriptedToolCall } from '@echelon/scripted-model';
import { methods } from '@agentclientprotocol/sdk/unstable';
import { AcpWorld } from './testing/acp-world.js';
import { choose, type Editor } from './testing/editor.js';

const write = (name: string, id: string): ScriptedToolCall => ({ name: 'write_file', arguments: { path: name, content: `${name}\n` }, id });
const todos = [
  { content: 'Look.', status: 'completed' },
  { content: 'Write.', status: 'in_progress' },
];
const done = todos.map((todo) => ({ ...todo, status: 'completed' }));
const USAGE = { inputTokens: 100, outputTokens: 20 };
let broken = true;
let dropped = false;

const SCRIPT = scriptByPrompt([
  { prompt: '[plain]', steps: [{ thought: 'Hm.', text: ['Hel', 'lo.'], usage: USAGE }] },
  {
    prompt: '[write]',
    steps: [
      { text: 'I write.', toolCalls: [write('a.txt', 'w1')], usage: USAGE },
      { text: 'Written.', usage: USAGE },
    ],
  },
  { prompt: '[again]', steps: [{ toolCalls: [write('b.txt', 'w2')] }, { text: 'Written.' }] },
  {
    prompt: '[batch]',
    steps: [
      { toolCalls: [{ name: 'list_files', arguments: {}, id: 'r1' }, write('a.txt', 'b1'), write('b.txt', 'b2'), write('c.txt', 'b3')] },
      { text: 'All.' },
    ],
  },
  { prompt: '[after]', steps: [{ text: 'After.' }] },
  {
    prompt: '[todos]',
    steps: [
      { toolCalls: [{ name: 'update_todos', arguments: { todos }, id: 't1' }] },
      { text: 'I stop.' },
      { toolCalls: [{ name: 'update_todos', arguments: { todos: done }, id: 't2' }] },
      { text: 'Now it is done.' },
    ],
  },
  {
    prompt: '[loud]',
    steps: [{ toolCalls: [{ name: 'run_command', arguments: { command: 'echo one; echo two' }, id: 'l1' }] }, { text: 'Heard.' }],
  },
  { prompt: '[broken]', steps: [() => (broken ? { faults: [{ kind: 'status', status: 400 }] } : { text: 'Whole.' })] },
  { prompt: '[filtered]', steps: [{ text: 'No.', finish: 'content_filter' }] },
  {
    prompt: '[dropped]',
    steps: [
      () => {
        const response = dropped ? { text: 'Whole.' } : { text: ['Half', ' more'], faults: [{ kind: 'drop' as const, afterChunks: 1 }] };
        dropped = true;
        return response;
      },
    ],
  },
  {
    prompt: '[delegate]',
    steps: [
      { toolCalls: [{ name: 'run_subagent', arguments: { description: 'Write it', prompt: '[sub]' }, id: 'd1' }] },
      { text: 'Delegated.' },
    ],
  },
  { prompt: '[sub]', steps: [{ toolCalls: [write('sub.txt', 'd2')] }, { text: 'I may not.' }] },
  { prompt: '[unknown]', steps: [{ toolCalls: [{ name: 'fly', arguments: {}, id: 'f1' }] }, { text: 'I cannot.' }] },
]);

let world: AcpWorld;
let editor: Editor;
beforeAll(async () => {
  world = await AcpWorld.open(SCRIPT, { context_window: 200_000 });
  editor = await world.startEditor();
}, 60_000);
afterAll(() => world.close());

async function play(text: string, modeId?: string): Promise<{ readonly id: string; readonly folder: string; readonly stopReason: string }> {
  const folder = world.newFolder();
  const id = await editor.newSession(folder, { modeId });
  const { stopReason } = await editor.prompt(id, text);
  return { id, folder, stopReason };
}

test('the agent tells what it can', () => {
  expect(editor.initialized).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'echelon' },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { embeddedContext: true, image: false, audio: false },
      mcpCapabilities: { http: false, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
  });
});

test('text and thought arrive in pieces, each kind as one message, with what the prompt cost', async () => {
  const id = await editor.newSession(world.newFolder());
  expect(await editor.prompt(id, '[plain]')).toMatchObject({
    stopReason: 'end_turn',
    usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 },
  });
  const chunks = editor.updates(id, 'agent_message_chunk');
  expect(chunks.map(({ content }) => content)).toEqual([
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo.' },
  ]);
  expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(1);
  expect(editor.updates(id, 'agent_thought_chunk')).toMatchObject([{ content: { text: 'Hm.' } }]);
  expect(editor.updates(id, 'usage_update')).toMatchObject([{ used: 120, size: 200_000 }]);
});

test('a call that is allowed goes from pending over its question to completed, and changes the file', async () => {
  const { id, folder, stopReason } = await play('[write]');
  expect(stopReason).toBe('end_turn');
  expect(editor.callStory(id)).toEqual(['w1 pending', 'w1 asked', 'w1 in_progress', 'w1 completed']);
  const file = path.join(folder, 'a.txt');
  const call = { toolCallId: 'w1', kind: 'edit', title: 'Write a.txt', name: 'write_file', locations: [{ path: file }] };
  const diff = { type: 'diff', path: file, oldText: null, newText: 'a.txt\n' };
  expect(editor.updates(id, 'tool_call')).toMatchObject([{ ...call, rawInput: { path: 'a.txt', content: 'a.txt\n' }, content: [diff] }]);
  expect(editor.asked(id)).toMatchObject([{ toolCall: { ...call, content: [diff] } }]);
  expect(editor.asked(id)[0]?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'allow_always', 'reject_once']);
  expect(editor.updates(id, 'tool_call_update').at(-1)).toMatchObject({ content: [diff], rawOutput: { path: 'a.txt' } });
  expect(readFileSync(file, 'utf8')).toBe('a.txt\n');
  expect(editor.said(id)).toBe('I write.Written.');
});

test('what is always allowed is not asked again in the session', async () => {
  editor.answer = () => choose('allow_always');
  const { id, folder } = await play('[write]');
  await editor.prompt(id, '[again]');
  expect(editor.asked(id)).toHaveLength(1);
  expect(existsSync(path.join(folder, 'b.txt'))).toBe(true);
});

test('all calls of a batch are asked about before one of them starts', async () => {
  editor.answer = () => choose('allow_once');
  const { id } = await play('[batch]');
  const story = editor.callStory(id);
  expect(story.filter((line) => line.endsWith('asked'))).toEqual(['b1 asked', 'b2 asked', 'b3 asked']);
  expect(story.findIndex((line) => line.endsWith('in_progress'))).toBeGreaterThan(story.indexOf('b3 asked'));
  expect(story.slice(-2)).toEqual(['b3 in_progress', 'b3 completed']);
});

test('a declined call ends the prompt: nothing of its batch starts, nothing more is asked, and every call is answered', async () => {
  editor.answer = ({ toolCall }) => choose(toolCall.toolCallId === 'b2' ? 'reject_once' : 'allow_once');
  const { id, folder, stopReason } = await play('[batch]');
  expect(stopReason).toBe('end_turn');
  expect(editor.asked(id).map(({ toolCall }) => toolCall.toolCallId)).toEqual(['b1', 'b2']);
  expect(editor.callStory(id).filter((line) => /in_progress|completed/.test(line))).toEqual([]);
  expect(
    editor
      .callStory(id)
      .filter((line) => line.endsWith('failed'))
      .toSorted(),
  ).toEqual(['b1 failed', 'b2 failed', 'b3 failed', 'r1 failed']);
  expect(['a.txt', 'b.txt', 'c.txt'].filter((file) => existsSync(path.join(folder, file)))).toEqual([]);
  await editor.prompt(id, '[after]');
  const answers =
    world
      .requestsWith('[after]')
      .at(-1)
      ?.filter(({ role }) => role === 'tool') ?? [];
  expect(answers.map(({ tool_call_id: callId }) => callId)).toEqual(['r1', 'b1', 'b2', 'b3']);
  expect(String(answers[2]?.content)).toContain('declined');
});

test('a call of a subagent is asked about, too; a rejection is told to the subagent, and the prompt goes on', async () => {
  editor.answer = ({ toolCall }) => choose(toolCall.toolCallId === 'd2' ? 'reject_once' : 'allow_once');
  const { id, folder, stopReason } = await play('[delegate]');
  expect(editor.asked(id).at(-1)?.toolCall).toMatchObject({ toolCallId: 'd2', title: 'Write sub.txt', kind: 'edit' });
  expect([stopReason, editor.said(id), existsSync(path.join(folder, 'sub.txt'))]).toEqual(['end_turn', 'Delegated.', false]);
  expect(editor.callStory(id).at(-1)).toBe('d1 completed');
});

test('a session that plans changes nothing and asks nothing; a mode that does not exist is refused', async () => {
  const { id, folder } = await play('[write]', 'plan');
  expect(editor.updates(id, 'current_mode_update')).toMatchObject([{ currentModeId: 'plan' }]);
  expect(editor.asked(id)).toEqual([]);
  expect(editor.callStory(id)).toEqual(['w1 pending', 'w1 failed']);
  expect(existsSync(path.join(folder, 'a.txt'))).toBe(false);
  await expect(editor.agent.request(methods.agent.session.setMode, { sessionId: id, modeId: 'yolo' })).rejects.toMatchObject({
    code: -32602,
    data: { code: 'unknown_mode' },
  });
});

test('full access asks nothing; a command shows its output while it runs', async () => {
  const { id } = await play('[loud]', 'full_access');
  const story = editor.callStory(id);
  expect([story[0], story[1], story.at(-1)]).toEqual(['l1 pending', 'l1 in_progress', 'l1 completed']);
  expect(story.slice(2, -1).length).toBeGreaterThan(0);
  expect(editor.updates(id, 'tool_call')).toMatchObject([{ kind: 'execute', title: 'Run echo one; echo two' }]);
  expect(JSON.stringify(editor.updates(id, 'tool_call_update').at(-2)?.content)).toContain('one');
});

test('the list of steps is a plan, and an unfinished one keeps the prompt going', async () => {
  const { id, stopReason } = await play('[todos]');
  expect(stopReason).toBe('end_turn');
  expect(editor.updates(id, 'plan').map(({ entries }) => entries.map(({ status }) => status))).toEqual([
    ['completed', 'in_progress'],
    ['completed', 'completed'],
  ]);
  expect(editor.said(id)).toBe('I stop.Now it is done.');
});

test('a failed prompt is an error that says why, and the next prompt goes on', async () => {
  const id = await editor.newSession(world.newFolder());
  await expect(editor.prompt(id, '[broken]')).rejects.toMatchObject({
    code: -32603,
    data: { code: 'model_request', stop_reason: 'error', failure: { kind: 'http', status: 400 } },
  });
  broken = false;
  expect(await editor.prompt(id, '[broken] once more')).toMatchObject({ stopReason: 'end_turn' });
});

test('an answer that the provider withholds is a refusal', async () => {
  expect((await play('[filtered]')).stopReason).toBe('refusal');
});

test('a reply that begins anew is another message, and what came before is declared void', async () => {
  const { id } = await play('[dropped]');
  const chunks = editor.updates(id, 'agent_message_chunk');
  expect(chunks.map(({ content }) => (content.type === 'text' ? content.text : ''))).toEqual(['Half', 'Whole.']);
  expect(chunks[0]?.messageId).not.toBe(chunks[1]?.messageId);
  expect(editor.updates(id, 'agent_thought_chunk')).toMatchObject([{ content: { text: expect.stringContaining('does not count') } }]);
});

test('a call of a tool that does not exist is shown as failed', async () => {
  const { id } = await play('[unknown]');
  expect(editor.callStory(id)).toEqual(['f1 pending', 'f1 failed']);
});

test('several sessions run at once, each with its own updates', async () => {
  editor.answer = () => choose('allow_once');
  const played = await Promise.all([play('[write]'), play('[plain]'), play('[loud]', 'full_access')]);
  expect(played.map(({ stopReason }) => stopReason)).toEqual(['end_turn', 'end_turn', 'end_turn']);
  expect(played.map(({ id }) => editor.said(id))).toEqual(['I write.Written.', 'Hello.', 'Heard.']);
});

test('texts and links of a prompt reach the model with their places; images and empty prompts are refused', async () => {
  const folder = world.newFolder();
  const sessionId = await editor.newSession(folder);
  const uri = pathToFileURL(path.join(folder, 'notes.md')).href;
  writeFileSync(path.join(folder, 'notes.md'), 'Notes.');
  const { prompt } = methods.agent.session;
  await editor.agent.request(prompt, {
    sessionId,
    prompt: [
      { type: 'text', text: '[plain] linked' },
      { type: 'resource_link', uri, name: 'notes.md' },
      { type: 'resource', resource: { uri, text: 'Embedded notes.' } },
    ],
  });
  const sent = JSON.stringify(world.requestsWith('[plain] linked').at(-1));
  expect(sent).toContain(`[notes.md](${folder}/notes.md)`);
  expect(sent).toContain('Embedded notes.');
  const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
  await expect(editor.agent.request(prompt, { sessionId, prompt: [image] })).rejects.toMatchObject({
    data: { code: 'unsupported_content' },
  });
  await expect(editor.agent.request(prompt, { sessionId, prompt: [{ type: 'text', text: ' ' }] })).rejects.toMatchObject({
    data: { code: 'empty_prompt' },
  });
});

test('a session needs a folder that exists, by its absolute path, and an id that is known', async () => {
  const { session } = methods.agent;
  const begin = (cwd: string) => editor.agent.request(session.new, { cwd, mcpServers: [] });
  await expect(begin('work')).rejects.toMatchObject({ code: -32602, data: { code: 'relative_cwd' } });
  await expect(begin(path.join(world.base, 'none'))).rejects.toMatchObject({ code: -32602, data: { code: 'no_such_folder' } });
  await expect(editor.prompt('none', '[plain]')).rejects.toMatchObject({ code: -32002 });
  const http = { type: 'http' as const, name: 'far', url: 'http://127.0.0.1:1', headers: [] };
  await expect(editor.agent.request(session.new, { cwd: world.newFolder(), mcpServers: [http] })).rejects.toMatchObject({
    data: { code: 'mcp_transport' },
  });
});

test('MCP servers of the editor are not connected, and the person is told', async () => {
  const server = { name: 'jira', command: 'jira-mcp', args: [], env: [] };
  const sessionId = await editor.newSession(world.newFolder(), { mcpServers: [server] });
  await editor.prompt(sessionId, '[plain]');
  expect(editor.said(sessionId)).toMatch(/jira cannot be used here\.\s+Hello\.$/);
});
