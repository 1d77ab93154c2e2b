import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import type { AgentScript } from '@echelon/scripted-model';
import { waitFor } from '@echelon/testkit';
import { CLI_COMMAND, FRAMED, Headless, type HeadlessRun, says } from '../../../../test/support/headless.js';
import type { OutputFrame } from './frames.js';

let headless: Headless;
const open = async (script: AgentScript): Promise<Headless> => (headless = await Headless.open(script));
afterEach(() => headless.close());

const FULL = ['--mode', 'full_access'];
const SLEEPS: AgentScript = [
  { toolCalls: [{ name: 'run_command', arguments: { command: 'echo $$ > pid; echo started; sleep 600' }, id: 'c1' }] },
  { text: 'Inspected.' },
];
const toolRuns = (run: HeadlessRun) =>
  run.frame((frame): frame is OutputFrame => frame.type === 'stream_event' && frame.event.type === 'tool_output');
const LIVE = ['--output-format', 'stream-json', '--include-partial-messages', ...FULL];

/** The command that the last tool call started is gone. */
async function commandIsGone(): Promise<void> {
  const pid = readFileSync(path.join(headless.folder, 'pid'), 'utf8').trim();
  await waitFor('the command is gone', () => spawnSync('kill', ['-0', pid]).status !== 0);
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s during a tool ends it, tells its result, and exits with 130 [G8.10][G3.7]',
  async (signal) => {
    await open(SLEEPS);
    const run = headless.start('-p', 'Go.', ...LIVE);
    await toolRuns(run);
    run.signal(signal);
    const { result, frames, code } = await run.ended;
    expect([result.subtype, result.stop_reason, code]).toEqual(['cancelled', 'cancelled', 130]);
    expect(JSON.stringify(frames)).toContain('"status":"cancelled"');
    await commandIsGone();
  },
);

test('a cancel while nothing runs ends the run, too', async () => {
  await open([]);
  const run = headless.start(...FRAMED);
  await run.frame((frame): frame is OutputFrame => frame.type === 'system');
  run.signal('SIGINT');
  const { result, code } = await run.ended;
  expect([result.subtype, result.stop_reason, code]).toEqual(['cancelled', null, 130]);
});

test('a client that closes stdout ends the run and what it started', async () => {
  await open([
    {
      toolCalls: [{ name: 'run_command', arguments: { command: 'echo $$ > pid; echo started; sleep 1; echo more; sleep 600' }, id: 'c1' }],
    },
  ]);
  const run = headless.start('-p', 'Go.', ...LIVE);
  await toolRuns(run);
  run.closeOutput();
  const { code, stderr } = await run.output();
  expect([code, stderr]).toEqual([130, 'The run was cancelled.\n']);
  await commandIsGone();
});

test('a result that its disk has no room for is no success', async () => {
  await open([{ text: 'Done.' }]);
  const full = openSync('/dev/full', 'w');
  const env = { ...process.env, ECHELON_DATA_DIR: headless.data, ECHELON_SCRIPTED_MODEL_URL: headless.model.url };
  const args = [...CLI_COMMAND, 'run', '-p', 'Go.', '--provider', 'scripted', '--cwd', headless.folder];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', full, 'pipe'] });
  const [stderr] = await Promise.all([text(child.stderr!), once(child, 'close')]);
  closeSync(full);
  expect([child.exitCode, stderr.split('\n').at(-2)]).toEqual([130, 'The result could not be written to stdout.']);
});

test('a killed run goes on in a new process: nothing runs twice, and the session is the folder’s last [G8.38]', async () => {
  await open(SLEEPS);
  const run = headless.start('-p', 'Go.', ...LIVE);
  await toolRuns(run);
  await run.kill();
  const { frames, result, code } = await headless.play('--resume');
  expect(frames[0]).toMatchObject({ subtype: 'init', resumed: true, interrupted: true });
  expect(frames[1]).toMatchObject({ type: 'user', message: { content: [{ tool_use_id: 'c1', status: 'unknown' }] } });
  expect([result.result, code]).toEqual(['Inspected.', 0]);
  await commandIsGone();

  const over = await headless.play('--resume', result.session_id ?? '');
  expect([over.result.subtype, over.code, over.result.error?.message]).toEqual(['error_start', 2, expect.stringContaining('has ended')]);
});

test('a session is one run’s at a time; when its result is told it is free', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await open([{ text: 'One.', faults: [{ kind: 'hold', until: held }] }, { text: 'Two.' }]);
  const first = headless.start(...FRAMED);
  first.send(says('One?'));
  await headless.model.waitForRequest(1);
  const second = await headless.play('--resume', '-p', 'Two?');
  expect([second.result.subtype, second.result.session_id, second.code]).toEqual(['error_start', null, 4]);
  expect(second.stderr).toContain('is open in another process');
  release();
  first.endInput();
  const { session_id } = await first.frame((frame) => frame.type === 'result');
  const third = await headless.play('--resume', session_id ?? '', '-p', 'Two?');
  expect([third.result.result, third.result.session_id]).toEqual(['Two.', session_id]);
});

test('text: the answer alone on stdout, all else on stderr; the prompt may come from stdin; json: one object', async () => {
  await open(({ messages }) => ({ text: `${messages.at(-1)?.text}!` }));
  const run = headless.start();
  run.endInput('From stdin');
  expect(await run.output()).toEqual({ code: 0, stdout: 'From stdin!\n', stderr: expect.stringMatching(/^SCRIPTED \(.*\) · session /) });
  const json = await headless.start('-p', 'Hi', '--output-format', 'json').ended;
  expect(json.frames).toEqual([expect.objectContaining({ type: 'result', result: 'Hi!', exit_code: 0 })]);
});

test('wrong usage and what cannot start are told in one result, too', async () => {
  await open([]);
  const run = headless.start('--output-format', 'json');
  run.endInput('  ');
  expect((await run.ended).result).toMatchObject({
    subtype: 'error_start',
    exit_code: 2,
    error: { message: expect.stringMatching(/no prompt/) },
  });
  const schema = await headless.play('-p', 'x', '--json-schema', '{"type":"string"}');
  expect([schema.code, schema.result.subtype]).toEqual([2, 'error_start']);
  const lost = await headless.play('-p', 'x', '--resume', 'nowhere');
  expect([lost.code, lost.stderr]).toEqual([2, 'There is no session nowhere on this machine.\n']);
  const alone = await headless.start('-p', 'x', '--input-format', 'stream-json').output();
  expect([alone.code, alone.stderr]).toEqual([2, '--input-format stream-json needs --output-format stream-json.\n']);
});

test('without a key a script plays the model, shows a tool call, and every output says so', async () => {
  await open([]);
  const text = await headless.startWith({ ECHELON_SCRIPTED_MODEL_URL: '' }, '-p', 'Hello').output();
  expect([text.code, text.stdout, text.stderr]).toEqual([
    0,
    expect.stringMatching(/^SCRIPTED: no model was asked/),
    expect.stringMatching(/^SCRIPTED [^]*→ list_files/),
  ]);
  const framed = await headless.startWith({ ECHELON_SCRIPTED_MODEL_URL: '' }, '-p', 'Hello', '--output-format', 'json').ended;
  expect(framed.result.model).toMatch(/^SCRIPTED/);
  expect(headless.model.requestCount).toBe(0);
});

test('what the prompts of a run start counts together', async () => {
  const list = (id: string) => ({ name: 'list_files', arguments: {}, id });
  await open(({ messages, index }) => (messages.at(-1)?.role === 'user' ? { toolCalls: [list(`c${index}`)] } : { text: 'Listed.' }));
  const run = headless.start(...FRAMED, '--max-tool-calls', '1');
  run.send(says('One'), says('Two'));
  run.endInput();
  const { result, code, frames } = await run.ended;
  expect([result.subtype, code]).toEqual(['error_budget', 55]);
  expect(frames.flatMap((frame) => (frame.type === 'system' && frame.subtype === 'turn_end' ? [frame.stop_reason] : []))).toEqual([
    'completed',
    'budget_exhausted',
  ]);
});

test('a resumed run has all of its responses, whatever the run that died had', async () => {
  await open(SLEEPS);
  const run = headless.start('-p', 'Go.', ...LIVE);
  await toolRuns(run);
  await run.kill();
  const { result, code } = await headless.play('--resume', '--max-turns', '1');
  expect([result.result, code]).toEqual(['Inspected.', 0]);
  await commandIsGone();
});

test('the token budget of a run counts what subagents of its earlier prompts used', async () => {
  const usage = { inputTokens: 60, outputTokens: 40 };
  const toolCalls = [{ name: 'run_subagent', arguments: { description: 'scout', prompt: '[scout] Look.' }, id: 'c1' }];
  await open(({ messages }) => {
    if (messages[0]?.text.includes('[scout]')) return { text: 'Seen.', usage };
    return messages.length === 1 ? { toolCalls, usage } : { text: 'Done.', usage };
  });
  const run = headless.start(...FRAMED, '--max-tokens', '300');
  run.send(says('One'), says('Two'));
  run.endInput();
  const { result } = await run.ended;
  expect([result.subtype, headless.model.requestCount]).toEqual(['error_budget', 3]);
});

const LAUNCHES = ['ran.succeeded', 'ran.not_executed'];

test.each([
  ['two at once', [{ toolCalls: ['c1', 'c2'] }], LAUNCHES],
  ['one after the other', [{ toolCalls: ['c1'] }, { toolCalls: ['c2'] }], LAUNCHES],
] as const)('a launch budget of one, %s: the call past it does not start [G8.30]', async (_, batches, expected) => {
  const call = (id: string) => ({ name: 'run_command', arguments: { command: `echo ${id}` }, id });
  await open([...batches.map(({ toolCalls }) => ({ toolCalls: toolCalls.map(call) })), { text: 'Never.' }]);
  const { frames, result } = await headless.play('-p', 'Go.', '--max-tool-calls', '1', ...FULL);
  const ended = frames.flatMap((frame) =>
    frame.type === 'user' ? frame.message.content.flatMap((block) => (block.type === 'tool_result' ? [`ran.${block.status}`] : [])) : [],
  );
  expect([ended, result.subtype]).toEqual([expected, 'error_budget']);
});
