import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { scriptByPrompt, type ScriptedToolCall } from '@echelon/scripted-model';
import { AcpWorld } from './testing/acp-world.js';
import { type Editor } from './testing/editor.js';

const run = (command: string, id: string): ScriptedToolCall => ({ name: 'run_command', arguments: { command }, id });
const SLEEP = 'echo $$ > pid; echo started; sleep 600';

const SCRIPT = scriptByPrompt([
  { prompt: '[stream]', steps: [{ text: ['So', ' far'], faults: [{ kind: 'silence', afterChunks: 1 }] }] },
  { prompt: '[tool]', steps: [{ toolCalls: [run(SLEEP, 's1'), run('touch late', 's2')] }] },
  { prompt: '[ask]', steps: [{ toolCalls: [run('touch one', 'a1'), run('touch two', 'a2')] }] },
  { prompt: '[wait]', steps: [{ toolCalls: [run('until test -e go; do sleep 0.05; done', 'g1')] }, { text: 'Both.' }] },
  { prompt: '[slow]', steps: [{ text: ['Slow', ' answer'], faults: [{ kind: 'silence', afterChunks: 1 }] }] },
  { prompt: '[end]', steps: [{ text: ['So', ' it ends.'] }] },
  { prompt: '[next]', steps: [{ text: 'Next.' }] },
]);

let world: AcpWorld;
let editor: Editor;
beforeAll(async () => {
  world = await AcpWorld.open(SCRIPT);
  editor = await world.startEditor();
}, 60_000);
afterAll(() => world.close());

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

test('a cancel in the middle of a reply ends the prompt as cancelled, and the next prompt goes on', async () => {
  const id = await editor.newSession(world.newFolder());
  const prompted = editor.prompt(id, '[stream]');
  await editor.until(() => editor.said(id) === 'So');
  await editor.cancel(id);
  expect(await prompted).toMatchObject({ stopReason: 'cancelled' });
  expect(await editor.prompt(id, '[next]')).toMatchObject({ stopReason: 'end_turn' });
});

test('a cancel in a tool ends its command, starts nothing more, and tells how each call ended', async () => {
  const folder = world.newFolder();
  const id = await editor.newSession(folder, { modeId: 'full_access' });
  const prompted = editor.prompt(id, '[tool]');
  await editor.until(() => editor.callStory(id).includes('s1 output'));
  const pid = Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
  await editor.cancel(id);
  expect(await prompted).toMatchObject({ stopReason: 'cancelled' });
  expect(editor.callStory(id).slice(-2)).toEqual(['s1 failed', 's2 failed']);
  expect([isRunning(pid), existsSync(path.join(folder, 'late'))]).toEqual([false, false]);
  await editor.prompt(id, '[next]');
  const answers =
    world
      .requestsWith('[next]')
      .at(-1)
      ?.filter(({ role }) => role === 'tool') ?? [];
  expect(answers.map(({ tool_call_id: callId }) => callId)).toEqual(['s1', 's2']);
});

test('a cancel while a person is asked withdraws the question; nothing runs and nothing more is asked', async () => {
  const folder = world.newFolder();
  const id = await editor.newSession(folder);
  const withdrawn = Promise.withResolvers<string>();
  editor.answer = (_request, signal) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        withdrawn.resolve('withdrawn');
        resolve({ outcome: { outcome: 'cancelled' } });
      }),
    );
  const prompted = editor.prompt(id, '[ask]');
  await editor.until(() => editor.asked(id).length === 1);
  await editor.cancel(id);
  expect(await prompted).toMatchObject({ stopReason: 'cancelled' });
  expect(await withdrawn.promise).toBe('withdrawn');
  expect(editor.callStory(id)).toEqual(['a1 pending', 'a2 pending', 'a1 asked', 'a1 failed', 'a2 failed']);
  expect(existsSync(path.join(folder, 'one'))).toBe(false);
});

test('an editor that answers a question with cancelled gives up the whole prompt', async () => {
  const id = await editor.newSession(world.newFolder());
  editor.answer = () => ({ outcome: { outcome: 'cancelled' } });
  expect(await editor.prompt(id, '[ask]')).toMatchObject({ stopReason: 'cancelled' });
  expect(editor.asked(id)).toHaveLength(1);
});

test('a prompt that comes while a tool runs joins its results, once, and ends with the turn [G2.7]', async () => {
  const folder = world.newFolder();
  const id = await editor.newSession(folder, { modeId: 'full_access' });
  const first = editor.prompt(id, '[wait]');
  await editor.until(() => editor.callStory(id).includes('g1 in_progress'));
  const second = editor.prompt(id, 'Mind the gap as well.');
  await editor.agent.request('session/list', {});
  writeFileSync(path.join(folder, 'go'), '');
  expect((await Promise.all([first, second])).map(({ stopReason }) => stopReason)).toEqual(['end_turn', 'end_turn']);
  const requests = world.requestsWith('Mind the gap');
  expect(requests).toHaveLength(1);
  expect(requests[0]?.slice(-2).map(({ role }) => role)).toEqual(['tool', 'user']);
});

test('a prompt that finds no tool to join is a turn of its own; a cancel ends those that wait', async () => {
  const id = await editor.newSession(world.newFolder());
  const slow = editor.prompt(id, '[slow]');
  await editor.until(() => editor.said(id) === 'Slow');
  const waiting = editor.prompt(id, '[next]');
  await editor.agent.request('session/list', {});
  await editor.cancel(id);
  expect((await Promise.all([slow, waiting])).map(({ stopReason }) => stopReason)).toEqual(['cancelled', 'cancelled']);
  expect(
    world
      .requestsWith('[slow]')
      .flat()
      .some(({ content }) => content === '[next]'),
  ).toBe(false);
});
