/** A client that nobody here wrote, as its users run it: the program `acpx`, one process per command, with a home of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { scriptByPrompt } from '@echelon/scripted-model';
import { AcpWorld } from './testing/acp-world.js';

const write = (name: string, id: string) => ({ name: 'write_file', arguments: { path: name, content: name }, id });

const SCRIPT = scriptByPrompt([
  { prompt: '[denied]', steps: [{ toolCalls: [write('denied.txt', 'w1')] }] },
  { prompt: '[allowed]', steps: [{ toolCalls: [write('allowed.txt', 'w2')] }, { text: 'Written.' }] },
  { prompt: '[hang]', steps: [{ toolCalls: [{ name: 'run_command', arguments: { command: 'echo started; sleep 600' }, id: 'h1' }] }] },
  { prompt: '[next]', steps: [{ text: 'Next.' }] },
]);

/** Installed for this spec alone: its lists of optional packages cannot be locked for every machine. */
const CLIENT = 'acpx@0.19.1';
let acpx: string;
let world: AcpWorld;
let home: string;
let folder: string;

beforeAll(async () => {
  world = await AcpWorld.open(SCRIPT);
  acpx = installClient(mkdtempSync(path.join(world.base, 'client-')));
  home = mkdtempSync(path.join(world.base, 'home-'));
  folder = world.newFolder();
});
afterAll(async () => {
  const { pid } = await status();
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
  await world.close();
});

function installClient(prefix: string): string {
  execFileSync('npm', ['install', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', CLIENT]);
  return path.join(prefix, 'node_modules/acpx/dist/cli.js');
}

interface Frame {
  readonly method?: string;
  readonly params?: { readonly update?: { readonly sessionUpdate: string; readonly status?: string } };
  readonly result?: { readonly stopReason?: string };
}

function start(...args: readonly string[]): ChildProcess & { readonly stdout: NodeJS.ReadableStream } {
  const common = ['--agent', world.command.join(' '), '--cwd', folder, '--ttl', '300', '--format', 'json', '--json-strict'];
  const child = spawn(process.execPath, [acpx, ...common, ...args], {
    cwd: folder,
    env: { ...process.env, ...world.env, HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return child;
}

async function run(...args: readonly string[]): Promise<readonly Frame[]> {
  return parse(await readText(start(...args).stdout));
}

const parse = (output: string): readonly Frame[] =>
  output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Frame);

async function status(): Promise<{ readonly pid?: number }> {
  const [snapshot = {}] = (await run('status')) as readonly { readonly pid?: number }[];
  return snapshot;
}

const stopOf = (frames: readonly Frame[]): string | undefined => frames.findLast(({ result }) => result?.stopReason)?.result?.stopReason;
const statuses = (frames: readonly Frame[]): readonly string[] => frames.flatMap(({ params }) => params?.update?.status ?? []);
const methodsOf = (frames: readonly Frame[]): readonly string[] => frames.flatMap(({ method }) => method ?? []);

test('acpx denies and allows calls, cancels a running one, and goes on in a new process after the agent was killed', async () => {
  await run('sessions', 'new');

  const denied = await run('--deny-all', '[denied]');
  expect([stopOf(denied), statuses(denied).at(-1), existsSync(path.join(folder, 'denied.txt'))]).toEqual(['end_turn', 'failed', false]);
  expect(methodsOf(denied)).toContain('session/request_permission');

  const allowed = await run('--approve-all', '[allowed]');
  expect([stopOf(allowed), statuses(allowed)]).toEqual(['end_turn', ['pending', 'in_progress', 'completed']]);
  expect(readFileSync(path.join(folder, 'allowed.txt'), 'utf8')).toBe('allowed.txt');

  const hanging = start('--approve-all', '[hang]');
  let output = '';
  for await (const piece of hanging.stdout) {
    output += String(piece);
    if (output.includes('started') && !output.includes('"session/cancel"')) await run('cancel');
  }
  expect(stopOf(parse(output))).toBe('cancelled');

  const { pid: owner = 0 } = await status();
  const agents = readFileSync(`/proc/${owner}/task/${owner}/children`, 'utf8').trim().split(' ').map(Number);
  for (const agent of agents) process.kill(agent, 'SIGKILL');
  const resumed = await run('[next]');
  expect(methodsOf(resumed).some((method) => ['session/resume', 'session/load'].includes(method))).toBe(true);
  expect(stopOf(resumed)).toBe('end_turn');
  expect(
    world
      .requestsWith('[next]')[0]
      ?.map(({ role }) => role)
      .join(' '),
  ).toBe('user assistant tool user assistant tool assistant user assistant tool user');

  await run('sessions', 'close');
}, 240_000);
