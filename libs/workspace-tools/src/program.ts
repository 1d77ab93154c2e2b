/** Runs a program for its answer: input in, the two streams out, both small; fenced like every command (K21), but in no sandbox. */
import { commandEnvironment, commandPolicy } from './command-policy.js';
import { runCommand, type CommandOutcome, type OutputStream } from './command.js';

export interface ProgramRequest {
  /** Program and arguments; no shell reads them. */
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly input: string;
  /** Names of variables of this process that it may see beside `PATH`, `HOME` and the like. */
  readonly variables: readonly string[];
  readonly timeoutMs: number;
  /** Of both streams together, in UTF-8; it is ended when it prints more. */
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

export interface ProgramOutcome extends Readonly<Record<OutputStream, string>>, Pick<CommandOutcome, 'stopped' | 'exitCode' | 'signal'> {}

/** Runs the program to its end, its time limit, too much output or an abort. Rejects when it cannot be started. */
export async function runProgram(request: ProgramRequest): Promise<ProgramOutcome> {
  const policy = commandPolicy({ home: process.env.HOME ?? null, inheritedVariables: request.variables });
  const printed = { stdout: '', stderr: '' };
  let bytes = 0;
  const flood = new AbortController();
  const { stopped, exitCode, signal } = await runCommand({
    ...request,
    environment: commandEnvironment(policy, request.cwd),
    graceMs: policy.graceMs,
    signal: AbortSignal.any([request.signal, flood.signal]),
    report: (chunk, stream) => {
      bytes += Buffer.byteLength(chunk);
      if (bytes > request.outputBytes) flood.abort();
      else printed[stream] += chunk;
    },
    onStarted: () => undefined,
  });
  return { ...printed, stopped: flood.signal.aborted ? 'flooded' : stopped, exitCode, signal };
}
