/**
 * Runs one command in a process group of its own, under a guard.
 *
 * X1  The command does not begin before its guard stands and `onStarted` has stored its identity: it waits for a word on a pipe, and
 *     ends if that pipe closes. So no death of this process, at any moment, leaves a command behind (K21).
 * X2  Nothing of the command survives its call: background processes are ended with it.
 * X3  Memory is bounded whatever it prints.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { startGuard, type CommandGuard } from './command-guard.js';
import {
  COMMAND_ID_VARIABLE,
  endGroup,
  groupEnds,
  identifyCommand,
  killCommand,
  killStrays,
  newCommandId,
  type CommandProcess,
} from './command-process.js';
import { KeptOutput } from './kept-output.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { createOutputDecoder } from './output-decoder.js';

export interface CommandRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly signal: AbortSignal;
  /** What its standard input holds; without it, nothing. */
  readonly input?: string;
  readonly report: (chunk: string, stream: OutputStream) => void;
  readonly onStarted: (command: CommandProcess) => Promise<void> | void;
}

export type OutputStream = 'stdout' | 'stderr';

/** Why we ended a command; null when it ended by itself. `unguarded`: its guard was killed. */
export type StopReason = 'timed_out' | 'cancelled' | 'flooded' | 'unguarded';

export interface CommandOutcome {
  readonly stopped: StopReason | null;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It left background processes, which were ended. */
  readonly leftovers: boolean;
  readonly output: string;
  readonly outputBytes: number;
  readonly omittedBytes: number;
}

/** Core dumps, open files, and file size in the blocks of POSIX; a limit that the machine holds lower stays. Memory is its container's. */
const RESOURCE_LIMITS = [`-c 0`, `-n ${WORKSPACE_LIMITS.commandOpenFiles}`, `-f ${WORKSPACE_LIMITS.commandFileBytes / 512}`];
const LIMIT_RESOURCES = RESOURCE_LIMITS.map((limit) => `if (ulimit ${limit}) 2>/dev/null; then ulimit ${limit}; fi`).join('; ');
/** Waits for the word, limits its resources, becomes the command: the process id, and so the group, stays the same. */
const LAUNCH_SCRIPT = `IFS= read -r word <&3 || exit 125; exec 3<&-; ${LIMIT_RESOURCES}; exec "$@"`;
/** How long processes that outlive the command's shell may take to end by themselves, such as a `tee` at the end of a pipe. */
const SETTLE_MS = 100;
const DRAIN_MS = 1_000;

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null];

interface Running {
  readonly child: ChildProcess;
  readonly input: string | undefined;
  readonly process: CommandProcess;
  readonly exit: Promise<Exit>;
  readonly closed: Promise<void>;
  readonly output: KeptOutput;
  readonly flooded: Promise<void>;
}

/** Runs a command to its end, its time limit or an abort. Rejects when it cannot be started or `onStarted` rejects. */
export async function runCommand(request: CommandRequest): Promise<CommandOutcome> {
  const running = await launch(request);
  const guard = await startGuard(running.process).catch(async (error: unknown) => {
    await killCommand(running.process);
    throw error;
  });
  try {
    await request.onStarted(running.process);
    return await supervise(running, guard, request);
  } catch (error) {
    await killCommand(running.process);
    throw error;
  } finally {
    await guard.release();
  }
}

async function launch({ argv, cwd, environment, input, report }: CommandRequest): Promise<Running> {
  const id = newCommandId();
  const child = spawn('/bin/sh', ['-c', LAUNCH_SCRIPT, 'echelon-command', ...argv], {
    cwd,
    detached: true,
    env: { ...environment, [COMMAND_ID_VARIABLE]: id },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const exit = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve([code, signal])));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await once(child, 'spawn');
  if (child.pid === undefined) throw new Error('A started command has no process id');
  return { child, input, process: identifyCommand(id, child.pid), exit, closed, ...collect(child, report) };
}

async function supervise(running: Running, guard: CommandGuard, request: CommandRequest): Promise<CommandOutcome> {
  const stops = watchForStop(running, guard, request);
  try {
    if (!request.signal.aborted) begin(running);
    const stopped = await Promise.race([stops.reason, running.exit.then(() => null)]);
    const leftovers = await endAll(running.process, stopped, request.graceMs);
    const [exitCode, signal] = await running.exit;
    await drain(running);
    const { output } = running;
    return {
      stopped,
      exitCode,
      signal,
      leftovers,
      output: output.text(),
      outputBytes: output.totalBytes,
      omittedBytes: output.omittedBytes,
    };
  } finally {
    stops.dispose();
  }
}

function begin({ child, input }: Running): void {
  send(child.stdio[3] as Writable, 'go\n');
  if (child.stdin !== null) send(child.stdin, input ?? '');
}

/** The command may have been killed before it read this, or may not want it; its exit tells of that. */
function send(pipe: Writable, text: string): void {
  pipe.on('error', () => undefined);
  pipe.end(text);
}

function watchForStop(
  { flooded }: Running,
  guard: CommandGuard,
  { signal, timeoutMs }: CommandRequest,
): { readonly reason: Promise<StopReason>; dispose(): void } {
  const { promise, resolve } = Promise.withResolvers<StopReason>();
  const cancel = (): void => resolve('cancelled');
  const timer = setTimeout(() => resolve('timed_out'), timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  void guard.lost.then(() => resolve('unguarded'));
  void flooded.then(() => resolve('flooded'));
  return {
    reason: promise,
    dispose: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    },
  };
}

/** Returns whether a command that ended by itself had left processes behind. */
async function endAll({ id, group }: CommandProcess, stopped: StopReason | null, graceMs: number): Promise<boolean> {
  const settled = stopped === null && (await groupEnds(group, SETTLE_MS));
  if (!settled) await endGroup(group, graceMs);
  const strays = await killStrays(id);
  return stopped === null && (!settled || strays > 0);
}

/** All writers are dead, so the pipes end; where something could not be killed, they are given up. */
async function drain({ child, closed }: Running): Promise<void> {
  const patience = new AbortController();
  await Promise.race([closed, wait(DRAIN_MS, undefined, { signal: patience.signal }).catch(() => undefined)]);
  patience.abort();
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function collect(child: ChildProcess, report: CommandRequest['report']): Pick<Running, 'output' | 'flooded'> {
  const output = new KeptOutput(WORKSPACE_LIMITS.commandOutputBytes);
  const { promise: flooded, resolve } = Promise.withResolvers<void>();
  const add = (text: string, stream: OutputStream): void => {
    if (text === '') return;
    if (output.totalBytes < WORKSPACE_LIMITS.commandOutputBytes) report(text, stream);
    output.add(text);
    if (output.totalBytes > WORKSPACE_LIMITS.commandFloodBytes) resolve();
  };
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = child[name];
    if (stream !== null) decode(stream, (text) => add(text, name));
  }
  return { output, flooded };
}

function decode(stream: Readable, add: (text: string) => void): void {
  const decoder = createOutputDecoder();
  stream.on('data', (bytes: Buffer) => add(decoder.write(bytes)));
  stream.on('end', () => add(decoder.end()));
}
