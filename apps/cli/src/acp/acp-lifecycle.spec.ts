import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { scriptByPrompt } from '@echelon/scripted-model';
import { methods } from '@agentclientprotocol/sdk/unstable';
import { AcpWorld } from './testing/acp-world.js';
import type { Editor } from './testing/editor.js';

const SCRIPT = scriptByPrompt([
  {
    prompt: '[work]',
    steps: [
      { thought: 'First.', text: 'I work.', toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'a' }, id: 'w1' }] },
      { text: 'Worked.' },
    ],
  },
  {
    prompt: '[hang]',
    steps: [{ toolCalls: [{ name: 'run_command', arguments: { command: 'echo $$ > pid; echo started; sleep 600' }, id: 'h1' }] }],
  },
  { prompt: '[next]', steps: [{ text: 'Next.' }] },
]);

const { session } = methods.agent;
let world: AcpWorld;
beforeEach(async () => {
  world = await AcpWorld.open(SCRIPT, { mode: 'full_access' });
}, 60_000);
afterEach(() => world.close());

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

/** Runs a prompt until its command has begun. */
async function hang(
  editor: Editor,
  folder: string,
): Promise<{ readonly id: string; readonly pid: number; readonly prompted: Promise<unknown> }> {
  const id = await editor.newSession(folder);
  await editor.prompt(id, '[work]');
  const prompted = editor.prompt(id, '[hang]').catch((error: unknown) => error);
  await editor.until(() => editor.callStory(id).includes('h1 output'));
  return { id, pid: Number(readFileSync(path.join(folder, 'pid'), 'utf8')), prompted };
}

test('a session whose process was killed is loaded by another, which shows what was and goes on', async () => {
  const folder = world.newFolder();
  const first = await world.startEditor();
  const { id, pid } = await hang(first, folder);
  await first.kill();

  const second = await world.startEditor();
  const loaded = await second.agent.request(session.load, { sessionId: id, cwd: folder, mcpServers: [] });
  expect(loaded.modes).toMatchObject({ currentModeId: 'full_access' });
  expect(second.seen.map((seen) => ('update' in seen ? seen.update : seen))).toMatchObject([
    { sessionUpdate: 'user_message_chunk', content: { text: '[work]' } },
    { sessionUpdate: 'agent_thought_chunk', content: { text: 'First.' } },
    { sessionUpdate: 'agent_message_chunk', content: { text: 'I work.' } },
    { sessionUpdate: 'tool_call', toolCallId: 'w1', status: 'completed', kind: 'edit', title: 'Write a.txt' },
    { sessionUpdate: 'agent_message_chunk', content: { text: 'Worked.' } },
    { sessionUpdate: 'user_message_chunk', content: { text: '[hang]' } },
    { sessionUpdate: 'tool_call', toolCallId: 'h1', status: 'failed' },
  ]);
  expect(isRunning(pid)).toBe(false);
  expect(await second.prompt(id, '[next]')).toMatchObject({ stopReason: 'end_turn' });
  const answers =
    world
      .requestsWith('[next]')
      .at(-1)
      ?.filter(({ role }) => role === 'tool') ?? [];
  expect(answers.map(({ tool_call_id: callId, content }) => [callId, String(content).includes('is unknown')])).toEqual([
    ['w1', false],
    ['h1', true],
  ]);
}, 120_000);

test('a session is in one process at a time; another may resume it as soon as it is closed, without a replay', async () => {
  const folder = world.newFolder();
  const [first, second] = [await world.startEditor(), await world.startEditor()];
  const sessionId = await first.newSession(folder);
  await first.prompt(sessionId, '[work]');
  const resume = () => second.agent.request(session.resume, { sessionId, cwd: folder });
  await expect(resume()).rejects.toMatchObject({ code: -32600, data: { code: 'session_in_use', sessionId } });
  await first.agent.request(session.close, { sessionId });
  await expect(first.prompt(sessionId, '[next]')).rejects.toMatchObject({ code: -32002 });
  expect((await resume()).modes).toMatchObject({ currentModeId: 'full_access' });
  expect(second.seen).toEqual([]);
  expect(await second.prompt(sessionId, '[next]')).toMatchObject({ stopReason: 'end_turn' });
  await expect(second.agent.request(session.load, { sessionId, cwd: world.newFolder(), mcpServers: [] })).rejects.toMatchObject({
    data: { code: 'other_folder' },
  });
}, 120_000);

test('a folder is the same with a slash at its end: its session is listed and loaded', async () => {
  const folder = world.newFolder();
  const editor = await world.startEditor();
  const sessionId = await editor.newSession(`${folder}/`);
  for (const cwd of [folder, `${folder}/`]) {
    expect((await editor.agent.request(session.list, { cwd })).sessions).toMatchObject([{ sessionId, cwd: folder }]);
    await editor.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
  }
}, 60_000);

test('stored sessions are listed by folder, newest first, and can be deleted', async () => {
  const folder = world.newFolder();
  const editor = await world.startEditor();
  const other = await editor.newSession(world.newFolder());
  const first = await editor.newSession(folder);
  const second = await editor.newSession(folder);
  await editor.prompt(first, '[work]');
  const { sessions } = await editor.agent.request(session.list, { cwd: folder });
  expect(sessions).toMatchObject([
    { sessionId: first, cwd: folder, title: '[work]' },
    { sessionId: second, cwd: folder, title: null },
  ]);
  await editor.agent.request(session.delete, { sessionId: first });
  expect((await editor.agent.request(session.list, {})).sessions.map(({ sessionId }) => sessionId).toSorted()).toEqual(
    [other, second].toSorted(),
  );
  await expect(editor.agent.request(session.load, { sessionId: first, cwd: folder, mcpServers: [] })).rejects.toMatchObject({
    code: -32002,
    data: { code: 'session_not_found' },
  });
}, 120_000);

test('when the editor goes away its turns are cancelled, no command is left, and the sessions can be opened again', async () => {
  const folder = world.newFolder();
  const editor = await world.startEditor();
  const { id, pid, prompted } = await hang(editor, folder);
  expect(await editor.leave()).toBe(0);
  await prompted;
  expect([isRunning(pid), editor.errors]).toEqual([false, '']);
  const next = await world.startEditor();
  await next.agent.request(session.resume, { sessionId: id, cwd: folder });
  expect(await next.prompt(id, '[next]')).toMatchObject({ stopReason: 'end_turn' });
}, 120_000);
