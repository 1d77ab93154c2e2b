import { readFile, readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startScript, waitFor, type Program } from '@echelon/testkit';
import { describeSandbox, findCommand, killCommand, type CommandProcess, type SandboxChoice } from './index.js';
import { createTestWorkspace, type TestWorkspace } from './test-workspace.js';

const { kind } = await describeSandbox();
const sandboxes: readonly SandboxChoice[] = kind === 'none' ? ['none'] : ['none', 'required'];

let workspace: TestWorkspace;
let host: Program | null = null;
beforeEach(async () => {
  workspace = await createTestWorkspace();
});
afterEach(async () => {
  await host?.kill();
  await workspace[Symbol.asyncDispose]();
});

/** A process of its own, in a worker's place, that runs one command. It prints the command's identity before the command begins. */
function startHost(command: string, sandbox: SandboxChoice, beforeBegin = 'undefined'): Program {
  return startScript(`
    import { createWorkspaceTools } from '@echelon/workspace-tools';
    const tools = createWorkspaceTools({
      command: { sandbox: ${JSON.stringify(sandbox)} },
      onCommandStarted: ({ process: started }) => { console.log('identity ' + JSON.stringify(started)); return ${beforeBegin}; },
    });
    await tools.find(({ name }) => name === 'run_command').execute(
      { command: ${JSON.stringify(command)}, working_folder: '.', timeout_seconds: 600 },
      {
        callId: 'call_1', signal: new AbortController().signal, context: { workspace: { root: ${JSON.stringify(workspace.root)} } },
        report: (chunk) => process.stdout.write(chunk),
      },
    );`);
}

async function identityOf(program: Program): Promise<CommandProcess> {
  const line = await program.line(/^identity /);
  return JSON.parse(line.slice('identity '.length)) as CommandProcess;
}

/** The command lines of all living processes that carry the command's id, in their environment or, as its guard, in their arguments. */
async function processesOf({ id }: CommandProcess): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      const [environment, line] = await Promise.all([readProcess(pid, 'environ'), readProcess(pid, 'cmdline')]);
      return environment.includes(id) || line.includes(id) ? [line.split('\0').join(' ').trim()] : [];
    }),
  );
  return lines.flat();
}

async function readProcess(pid: string, file: string): Promise<string> {
  return await readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
}

describe.each(sandboxes)('a host killed with SIGKILL (sandbox: %s)', (sandbox) => {
  test('takes its command with it: shell, children, background processes and those that left the group [K21]', async () => {
    host = startHost(
      `trap '' TERM HUP; sleep 1000 & setsid sleep 1001 & setsid -f sh -c 'sleep 1002 & sleep 1003'; echo ready; sleep 1004`,
      sandbox,
    );
    const command = await identityOf(host);
    await host.line(/ready/);
    await waitFor('all that it starts is there', async () => {
      const running = await processesOf(command);
      return [1000, 1001, 1002, 1003, 1004].every((seconds) => running.includes(`sleep ${seconds}`));
    });
    await host.kill('SIGKILL');
    await waitFor('nothing of the command is left', async () => (await processesOf(command)).length === 0);
    expect(findCommand(command)).toBe('released');
  });

  test('before the command has begun leaves a command that never begins [K21]', async () => {
    host = startHost('touch begun', sandbox, 'new Promise(() => setInterval(() => {}, 1000))');
    const command = await identityOf(host);
    await host.kill('SIGKILL');
    await waitFor('nothing of the command is left', async () => (await processesOf(command)).length === 0);
    expect(await readdir(workspace.root)).toEqual([]);
  });

  test('has another process find the command by its record, and kill it [K21]', async () => {
    host = startHost('sleep 1000', sandbox);
    const command = await identityOf(host);
    expect(findCommand(command)).toBe('running');
    await killCommand(command);
    await waitFor('nothing of the command is left', async () => (await processesOf(command)).length === 0);
    expect(findCommand(command)).toBe('released');
  });
});

describe('a recorded command', () => {
  test('of another host cannot be found or killed from here', async () => {
    const elsewhere = {
      id: 'none',
      group: process.pid,
      host: `${hostname()}-two`,
      started_at: new Date(0).toISOString(),
      incarnation: null,
    };
    await killCommand(elsewhere);
    expect(findCommand(elsewhere)).toBe('unreachable');
  });

  test('is not taken for a later group under the same number', async () => {
    host = startHost('sleep 1000', 'none');
    const command = await identityOf(host);
    const earlier = { ...command, id: 'none', incarnation: 'another boot:1' };
    await killCommand(earlier);
    expect([findCommand(earlier), findCommand(command)]).toEqual(['released', 'running']);
  });
});
