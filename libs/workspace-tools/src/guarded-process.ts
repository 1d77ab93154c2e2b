/**
 * A program that is talked to over its streams for as long as it runs. Like a command it has a process group of its own and a guard that
 * ends it when this process dies (K21), and it does not begin before its guard stands; it is in no sandbox and has no time limit.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { startGuard } from './command-guard.js';
import { commandEnvironment, commandPolicy } from './command-policy.js';
import {
  COMMAND_ID_VARIABLE,
  type CommandProcess,
  endGroup,
  identifyCommand,
  killCommand,
  killStrays,
  newCommandId,
} from './command-process.js';

export interface GuardedProcessRequest {
  /** Program and arguments; no shell reads them. */
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** Names of variables of this process that it may see beside `PATH`, `HOME` and the like. */
  readonly variables: readonly string[];
}

export interface GuardedProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** How it ended: a word or two for people, such as `code 127`. */
  readonly exit: Promise<string>;
  /** Ends it and all that it started: SIGTERM, after `graceMs` SIGKILL; 0 kills at once, also where an earlier call still waits. */
  end(graceMs: number): Promise<void>;
}

/** Waits for the word, then becomes the program: the process id, and so the group, stays the same. */
const LAUNCH_SCRIPT = `IFS= read -r word <&3 || exit 125; exec 3<&-; exec "$@"`;

/** Starts the program; a program that does not exist is an exit like any other. Rejects when no process or no guard can be started. */
export async function startGuardedProcess({ argv, cwd, variables }: GuardedProcessRequest): Promise<GuardedProcess> {
  const id = newCommandId();
  const policy = commandPolicy({ home: process.env.HOME ?? null, inheritedVariables: variables });
  const child = spawn('/bin/sh', ['-c', LAUNCH_SCRIPT, 'echelon-agent', ...argv], {
    cwd,
    detached: true,
    env: { ...commandEnvironment(policy, cwd), [COMMAND_ID_VARIABLE]: id },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const exit = new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`)));
  await once(child, 'spawn');
  if (child.pid === undefined) throw new Error('a started program has no process id');
  const identity = identifyCommand(id, child.pid);
  const [input, output, errors, gate] = child.stdio as unknown as readonly [Writable, Readable, Readable, Writable];
  // Who writes to a program that is gone learns of it by its exit.
  for (const stream of [input, gate]) stream.on('error', () => undefined);
  const end = await guarded(identity, exit);
  gate.end('go\n');
  return { input, output, errors, exit, end };
}

/** Puts the guard up and returns what takes program and guard down. */
async function guarded(identity: CommandProcess, exit: Promise<string>): Promise<GuardedProcess['end']> {
  const guard = await startGuard(identity).catch(async (error: unknown) => {
    await killCommand(identity);
    throw error;
  });
  async function takeDown(graceMs: number): Promise<void> {
    await endGroup(identity.group, graceMs);
    await killStrays(identity.id);
    await exit;
    await guard.release();
  }
  let ending: Promise<void> | null = null;
  void guard.lost.then(() => (ending ??= takeDown(0)));
  return async (graceMs) => {
    if (graceMs === 0) await killCommand(identity);
    await (ending ??= takeDown(graceMs));
  };
}
