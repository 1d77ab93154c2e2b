import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { type AgentScript, scriptByPrompt } from '@echelon/scripted-model';
import { waitFor } from '@echelon/testkit';
import { describeWithTerminal } from '@echelon/testkit/jest';
import { type ChatTerminal, ChatWorld, KEYS } from '../../../../test/support/chat-terminal.js';

let world: ChatWorld;
const open = async (script: AgentScript): Promise<ChatWorld> => (world = await ChatWorld.open(script));
afterEach(() => world.close());

const run = (command: string, id: string) => ({ name: 'run_command', arguments: { command }, id });
const write = (name: string, id: string) => ({ name: 'write_file', arguments: { path: name, content: 'written\n' }, id });
const SLEEPS = 'echo $$ > pid; echo it slept $((40 + 2)); sleep 600';
const isThere = (name: string): boolean => existsSync(path.join(world.folder, name));
const isGone = (pid: string): boolean => spawnSync('kill', ['-0', pid]).status !== 0;
const commandIsGone = () => {
  const pid = readFileSync(path.join(world.folder, 'pid'), 'utf8').trim();
  return waitFor('the command is gone', () => isGone(pid));
};
/** What takes the screen away flickers, and loses what has scrolled up. */
const clearsScreen = ({ written }: ChatTerminal): boolean => ['[2J', '[3J', '[H'].some((code) => written.includes(`\u001b${code}`));
/** Written out, so that it can be looked for. */
const codes = ({ written }: ChatTerminal): string => written.replaceAll('\u001b', '<esc>');

const SCRIPT = scriptByPrompt([
  { prompt: '[write]', steps: [{ text: 'I write it.', toolCalls: [write('a.txt', 'c1')] }, { text: 'It is written.' }] },
  { prompt: '[sleep]', steps: [{ toolCalls: [run(SLEEPS, 's1')] }, { text: 'Inspected.' }] },
  { prompt: '[long]', steps: [{ text: Array.from({ length: 90 }, (_, line) => `Line ${line} of many.\n`) }] },
  { prompt: '[wide]', steps: [{ text: Array.from({ length: 60 }, () => '長い答えは画面に収まらないことがある。 '.repeat(3)) }] },
  { prompt: '[say]', steps: [{ text: 'Said.' }] },
]);

describeWithTerminal('a chat in a terminal of 40 columns', () => {
  test('a prompt is answered, a write is approved, a turn is stopped, and leaving ends the process with 0', async () => {
    await open(SCRIPT);
    const terminal = await world.start();
    expect(terminal.text).toContain('SCRIPTED');
    terminal.press('[write] a file');
    await terminal.shows('[write] a file');
    terminal.press(KEYS.enter);
    await terminal.shows('y allows it once');
    expect([terminal.text.includes('I write it.'), terminal.text.includes('+ written'), isThere('a.txt')]).toEqual([true, true, false]);
    terminal.press('y');
    await terminal.shows(/It is written\.[^]*Done\.[^]*ready/);
    expect(isThere('a.txt')).toBe(true);

    terminal.press('/mode full_access\r');
    await terminal.shows('Mode: full_access');
    terminal.press('[sleep]\r');
    await terminal.shows('it slept 42');
    terminal.press(KEYS.escape);
    await terminal.shows(/Stopped\.[^]*ready/);
    await commandIsGone();

    terminal.press('/exit\r');
    expect(await terminal.exited).toBe(0);
    expect(codes(terminal)).toMatch(/--resume\s[^]*<esc>\[\?25h/);
    expect([isGone(String(terminal.pid)), clearsScreen(terminal)]).toEqual([true, false]);
  });

  test('text is on the screen while it streams, and what is sent meanwhile waits there, to be taken back', async () => {
    const go = Promise.withResolvers<void>();
    await open([{ text: ['So far', ' so good.'], faults: [{ kind: 'hold', until: go.promise, afterChunks: 1 }] }, { text: 'Next.' }]);
    const terminal = await world.start();
    terminal.press('Hello.\r');
    await terminal.shows('So far');
    terminal.press('And then\r');
    await terminal.shows('> And then (waits)');
    terminal.press(KEYS.up);
    await terminal.shows('+ And then');
    terminal.press('?\r');
    await terminal.shows('> And then? (waits)');
    terminal.press('');
    go.resolve();
    await terminal.shows(/So far so good\.[^]*Done\.[^]*> And then\?[^]*Next\.[^]*Done\./);
    terminal.press(KEYS.control('d'));
    expect(await terminal.exited).toBe(0);
  });

  test('a long answer is shown whole, and never redraws more than fits', async () => {
    await open(SCRIPT);
    const terminal = await world.start();
    terminal.press('[long]\r');
    await terminal.shows(/Line 89 of many\.[^]*Done\./);
    expect(Math.max(...terminal.text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
    for (const line of [0, 41, 88]) expect(terminal.text).toContain(`Line ${line} of many.`);
    terminal.press('[wide]\r');
    await terminal.shows('Done.');
    expect(clearsScreen(terminal)).toBe(false);
    terminal.press(KEYS.control('d'));
    expect(await terminal.exited).toBe(0);
  });

  test('pasted lines are one message, and without colours nothing is coloured', async () => {
    await open(SCRIPT);
    const terminal = await world.start([], { NO_COLOR: '1' });
    terminal.press(KEYS.paste('[say] one\r/exit\rtwo'));
    await terminal.shows('two');
    terminal.press(KEYS.enter);
    await terminal.shows('Done.');
    expect(world.requests()[0]).toEqual([{ role: 'user', content: '[say] one\n/exit\ntwo' }]);
    expect(codes(terminal)).not.toMatch(/<esc>\[[0-9;]*m/);
    terminal.press(KEYS.control('c'));
    await terminal.shows('again leaves');
    terminal.press(KEYS.control('c'));
    expect(await terminal.exited).toBe(0);
  });

  test('a killed chat is resumed: what was is shown, and the turn goes on where it was', async () => {
    await open(SCRIPT);
    const first = await world.start(['--mode', 'full_access']);
    first.press('[sleep]\r');
    await first.shows('it slept 42');
    await first.kill();
    const second = await world.start(['--resume']);
    await second.shows('was interrupted');
    expect(second.text).toContain('[sleep]');
    await commandIsGone();
    second.press('/resume\r');
    await second.shows(/Inspected\.[^]*Done\./);
    expect(JSON.stringify(world.requests()[1])).toContain('outcome of this call is unknown');
    second.press('/exit\r');
    expect(await second.exited).toBe(0);
  });

  test('when the terminal is closed, the turn ends, its command with it, and the session is free', async () => {
    await open(SCRIPT);
    const terminal = await world.start(['--mode', 'full_access']);
    terminal.press('[sleep]\r');
    await terminal.shows('it slept 42');
    terminal.close();
    await waitFor('the chat is gone', () => isGone(String(terminal.pid)));
    await commandIsGone();
    const again = await world.start(['--resume']);
    await again.shows('ready');
    expect(again.written).not.toContain('interrupted');
    again.press('/exit\r');
    expect(await again.exited).toBe(0);
  });

  test('a signal to end stops the turn, leaves the terminal as it was, and exits with 130', async () => {
    await open(SCRIPT);
    const terminal = await world.start(['--mode', 'full_access']);
    terminal.press('[sleep]\r');
    await terminal.shows('it slept 42');
    spawnSync('kill', ['-TERM', String(terminal.pid)]);
    expect(await terminal.exited).toBe(130);
    expect(terminal.text).toContain('Stopped.');
    expect(codes(terminal)).toMatch(/<esc>\[\?25h[^?]*$/);
    await commandIsGone();
  });
});

test('where stdin or stdout is no terminal, a chat says what to use instead', async () => {
  await open(SCRIPT);
  const loader = path.resolve(import.meta.dirname, '../../../../scripts/source-loader.mjs');
  const program = path.resolve(import.meta.dirname, '../../bin/echelon.mjs');
  const args = ['--no-warnings', '--import', loader, program, 'chat', '--provider', 'scripted'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', input: 'Hello.' });
  expect([status, stderr]).toEqual([2, expect.stringContaining('echelon run')]);
});
