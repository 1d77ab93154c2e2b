import { closeSync, openSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ToolResult } from '@echelon/agent-loop';
import { waitFor } from '@echelon/testkit';
import { findCommand, type CommandProcess } from './command-process.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { describeSandbox, type SandboxChoice } from './sandbox.js';
import { createTestWorkspace, type TestWorkspace } from './test-workspace.js';
import type { CommandStarted } from './run-command.tool.js';
import type { WorkspaceContext } from './workspace-context.js';

const { kind } = await describeSandbox();
const sandboxes: readonly SandboxChoice[] = kind === 'none' ? ['none'] : ['none', 'required'];

const open: TestWorkspace[] = [];
afterEach(async () => {
  for (const workspace of open.splice(0)) await workspace[Symbol.asyncDispose]();
});

/** A task folder whose commands are recorded as orchestration records them. */
async function createCommandWorkspace(
  sandbox: SandboxChoice,
  graceMs = 300,
): Promise<TestWorkspace & { readonly started: CommandStarted<WorkspaceContext>[] }> {
  const started: CommandStarted<WorkspaceContext>[] = [];
  const workspace = await createTestWorkspace({ command: { sandbox, graceMs }, onCommandStarted: (each) => void started.push(each) });
  open.push(workspace);
  return { ...workspace, started };
}

async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return await Promise.all(pids.map(async (pid) => await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')));
}

async function environments(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return await Promise.all(pids.map(async (pid) => await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')));
}

/** Nothing of the command's group and nothing that it started is left. */
async function isGone(command: CommandProcess): Promise<boolean> {
  return findCommand(command) === 'released' && !(await environments()).some((environment) => environment.includes(command.id));
}

async function abortOnOutput(workspace: TestWorkspace, command: string): Promise<ToolResult> {
  const cancel = new AbortController();
  return await workspace.call('run_command', { command }, { signal: cancel.signal, report: () => cancel.abort() });
}

function firstCommand(workspace: { readonly started: readonly CommandStarted<WorkspaceContext>[] }): CommandProcess {
  const [first] = workspace.started;
  if (first === undefined) throw new Error('no command has started');
  return first.process;
}

describe.each(sandboxes)('run_command (sandbox: %s)', (sandbox) => {
  test('returns both streams and the exit code', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const result = await workspace.call('run_command', { command: 'echo out; echo err >&2' });
    expect(result).toMatchObject({ isError: false, structured: { exit_code: 0, signal: null, stopped: null } });
    expect(result.text.split('\n').sort()).toEqual(['[exit code 0]', 'err', 'out']);
  });

  test('an exit code other than 0 is an error result', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    expect(await workspace.call('run_command', { command: 'exit 3' })).toMatchObject({ text: '(no output)\n[exit code 3]', isError: true });
    expect((await workspace.call('run_command', { command: 'no-such-program' })).text).toContain('[exit code 127]');
  });

  test('runs in the task folder or a folder below it, and what it writes stays', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    await workspace.put('a folder/x', '');
    const result = await workspace.call('run_command', { command: 'pwd; echo hi > y', working_folder: 'a folder' });
    expect(result.text).toBe(`${workspace.root}/a folder\n[exit code 0]`);
    expect(await workspace.read('a folder/y')).toBe('hi\n');
  });

  test('takes every character of a command literally', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const { text } = await workspace.call('run_command', { command: `printf '%s|' 'a"b' "c'd" '$1' '\\\\' 日本 '*' "$#"` });
    expect(text).toBe(`a"b|c'd|$1|\\\\|日本|*|0|\n[exit code 0]`);
  });

  test('has no input: a program that reads sees its end', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    expect((await workspace.call('run_command', { command: 'cat; read x || echo end' })).text).toBe('end\n[exit code 0]');
  });

  test('sees nothing of this process but an allow-list of variables: no key, no address of the database [O4]', async () => {
    process.env['ECHELON_SPEC_API_KEY'] = 'sk-leak';
    process.env['DATABASE_URL'] ??= 'postgres://sk-leak@localhost/none';
    const workspace = await createCommandWorkspace(sandbox);
    const { text } = await workspace.call('run_command', { command: 'env' });
    delete process.env['ECHELON_SPEC_API_KEY'];
    const names = text.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
    const allowed =
      'PATH LANG LC_ALL LC_CTYPE TZ USER LOGNAME TERM NO_COLOR PAGER GIT_PAGER GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS DEBIAN_FRONTEND TAR_OPTIONS HOME ECHELON_COMMAND_ID PWD SHLVL OLDPWD _';
    expect(names.filter((name) => !allowed.split(' ').includes(name))).toEqual([]);
    expect(text).toContain(`HOME=${workspace.root}\n`);
    expect(text).not.toContain('sk-leak');
  });

  test('runs within limits of its resources [O5]', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const { text } = await workspace.call('run_command', { command: 'ulimit -Hc; ulimit -Sn; ulimit -Hn; ulimit -Hf' });
    const [core, soft, hard, blocks] = text.split('\n').map(Number);
    expect([core, soft]).toEqual([0, hard]);
    expect(hard).toBeLessThanOrEqual(WORKSPACE_LIMITS.commandOpenFiles);
    // A shell counts in blocks of 512 or 1,024 bytes.
    expect(blocks).toBeLessThanOrEqual(WORKSPACE_LIMITS.commandFileBytes / 512);
  });

  test('holds no file that this process has open', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const descriptor = openSync(join(workspace.outside, 'secret.txt'), 'r');
    const { text } = await workspace.call('run_command', { command: 'ls -l /proc/self/fd' });
    closeSync(descriptor);
    expect(text).toContain(' 0 -> /dev/null\n');
    expect(text).not.toContain('secret.txt');
  });

  test('reports output while it runs, in whole characters', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const chunks: string[] = [];
    const call = workspace.call(
      'run_command',
      { command: `printf '\\360\\237'; until [ -e go ]; do sleep 0.01; done; printf '\\230\\200'` },
      { report: (chunk) => chunks.push(chunk) },
    );
    await waitFor('the command has begun', () => workspace.started.length > 0);
    await workspace.put('go', '');
    expect((await call).text).toBe('😀\n[exit code 0]');
    expect(chunks).toEqual(['😀']);
  });

  test('keeps head and tail of a large output within 5 MiB [O36]', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    let reported = 0;
    const result = await workspace.call(
      'run_command',
      { command: 'echo first; seq 1 1500000; echo last' },
      { report: (chunk) => (reported += chunk.length) },
    );
    expect(result.text).toMatch(/^first\n1\n2\n/);
    expect(result.text).toMatch(/1500000\nlast\n\[exit code 0\]$/);
    expect(Buffer.byteLength(result.text)).toBeLessThan(5 * 1024 ** 2 + 200);
    expect(result.text).toContain(`[… ${Number(result.structured?.['omitted_bytes'])} bytes left out …]`);
    expect(reported).toBeLessThan(6 * 1024 ** 2);
  });

  test('a command that floods is stopped', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const result = await workspace.call('run_command', { command: 'yes' });
    expect(result).toMatchObject({ isError: true, structured: { stopped: 'flooded' } });
    expect(await isGone(firstCommand(workspace))).toBe(true);
  });

  test('the time limit is an error result and leaves nothing running', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const result = await workspace.call('run_command', { command: 'sleep 1000', timeout_seconds: 1 });
    expect(result.text).toContain('\n[stopped after the time limit of 1 s; it may have done a part of its work]');
    expect(result).toMatchObject({ isError: true, structured: { stopped: 'timed_out' } });
    expect(await isGone(firstCommand(workspace))).toBe(true);
  });

  test('an abort ends the whole group, also what ignores SIGTERM, and keeps the output so far [O5]', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const result = await abortOnOutput(
      workspace,
      `trap '' TERM; sleep 1000 & (trap '' TERM; sleep 1001) & echo begun; sleep 1002; sleep 1003`,
    );
    expect(result.text).toBe('begun\n[cancelled; it may have done a part of its work]');
    expect(result).toMatchObject({ isError: true, structured: { stopped: 'cancelled' } });
    expect(await isGone(firstCommand(workspace))).toBe(true);
  });

  test('a command may end in its own way after SIGTERM', async () => {
    const workspace = await createCommandWorkspace(sandbox, 20_000);
    const result = await abortOnOutput(workspace, `trap 'echo tidied; exit 0' TERM; echo begun; while :; do sleep 0.02; done`);
    expect(result.text).toContain('tidied\n');
    expect(result).toMatchObject({ isError: true, structured: { stopped: 'cancelled' } });
  });

  test('background processes end with the command, also those that left its group', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const result = await workspace.call('run_command', { command: 'sleep 1000 & setsid sleep 1001 > /dev/null 2>&1 & echo done' });
    expect(result).toMatchObject({ isError: false });
    expect(result.text).toMatch(/^done\n.*\[exit code 0\]$/s);
    expect(await isGone(firstCommand(workspace))).toBe(true);
  });

  test('its identity is stored before it begins; when that fails it never begins [K21]', async () => {
    const workspace = await createTestWorkspace({
      command: { sandbox },
      onCommandStarted: () => Promise.reject(new Error('the lease is lost')),
    });
    open.push(workspace);
    await expect(workspace.call('run_command', { command: 'touch begun' })).rejects.toThrow('the lease is lost');
    expect(await readdir(workspace.root)).toEqual([]);
  });

  test('leaves no guard behind', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    await workspace.call('run_command', { command: 'true' });
    const { id } = firstCommand(workspace);
    expect((await commandLines()).filter((line) => line.includes(id))).toEqual([]);
  });

  test('is stopped when its guard is killed [K21]', async () => {
    const workspace = await createCommandWorkspace(sandbox);
    const call = workspace.call('run_command', { command: 'sleep 1000' });
    const { id } = await waitFor('the command has begun', () => workspace.started[0]?.process);
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map(async (pid) => [pid, await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')] as const),
    );
    const guard = lines.find(([, line]) => line.includes('echelon-guard') && line.includes(id));
    process.kill(Number(guard?.[0]), 'SIGKILL');
    expect(await call).toMatchObject({ isError: true, structured: { stopped: 'unguarded' } });
  });
});

describe('run_command', () => {
  test('names the signal that ended a command', async () => {
    const workspace = await createCommandWorkspace('none');
    expect((await workspace.call('run_command', { command: 'kill -SEGV $$' })).text).toBe('(no output)\n[ended by signal SIGSEGV]');
  });

  test('refuses a NUL, a time limit above the maximum and a folder that is none', async () => {
    const workspace = await createCommandWorkspace('none');
    const { input } = workspace.tool('run_command');
    expect(input.safeParse({ command: 'ls\0' }).success).toBe(false);
    expect(input.safeParse({ command: 'ls', timeout_seconds: 601 }).success).toBe(false);
    expect(input.parse({ command: 'ls' })).toEqual({ command: 'ls', working_folder: '.', timeout_seconds: 120 });
    expect(await workspace.call('run_command', { command: 'ls', working_folder: 'none' })).toMatchObject({
      text: 'none does not exist.',
      isError: true,
    });
    expect(workspace.started).toEqual([]);
  });

  test('is safe beside other calls only when it is judged read-only', async () => {
    const { concurrencySafe } = (await createCommandWorkspace('none')).tool('run_command');
    if (typeof concurrencySafe !== 'function') throw new Error('concurrency safety must be judged from the input');
    expect([{ command: 'cat a.txt' }, { command: 'git status' }].map((input) => concurrencySafe(input))).toEqual([true, false]);
  });
});
