import { z } from 'zod';
import type { ToolDefinition, ToolExecution, ToolResult } from '@echelon/agent-loop';
import { commandEnvironment, type CommandPolicy } from './command-policy.js';
import type { CommandProcess } from './command-process.js';
import { runCommand, type CommandOutcome, type StopReason } from './command.js';
import { confine, type ConfinedPath } from './confinement.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { isReadOnlyCommand } from './read-only-command.js';
import { Refusal, answer, failed, succeeded } from './refusal.js';
import { describeSandbox, plainArguments, sandboxedArguments, type ShellCommand } from './sandbox.js';
import type { WorkspaceContext } from './workspace-context.js';

/** A command stands under its guard and is about to begin; told before it does, so that its identity can be stored first (K21). */
export interface CommandStarted<Context> {
  readonly callId: string;
  readonly context: Context;
  readonly process: CommandProcess;
}

export interface RunCommandOptions<Context> {
  readonly policy: CommandPolicy;
  /** When it rejects, the command does not begin and the call rejects. */
  readonly onStarted: (started: CommandStarted<Context>) => Promise<void> | void;
}

/** `run_command`: one shell command in the task folder. */
export function runCommandTool<Context extends WorkspaceContext>({ policy, onStarted }: RunCommandOptions<Context>) {
  const input = inputSchema(policy);
  return {
    name: 'run_command',
    title: 'Run command',
    description:
      'Runs a shell command in the task folder, without a terminal and without input, and waits for its end. Use it to build, test, use git and ' +
      'inspect; use the file tools to read, write, edit and search files. Returns what was printed (both streams, in order of arrival) and then the ' +
      'exit code; an exit code other than 0 is an error result. Background processes are ended with the command. Write only inside the task folder; ' +
      `/tmp may be empty again at the next command. After the time limit (${policy.defaultTimeoutSeconds} s unless you set it) the command is stopped.`,
    input,
    effect: 'execute',
    concurrencySafe: ({ command }) => isReadOnlyCommand(command),
    idempotent: false,
    execute: ({ command, working_folder, timeout_seconds }, execution) =>
      answer(execution.signal, async () => {
        const folder = await confine(execution.context.workspace.root, working_folder);
        requireFolder(folder);
        const argv = await argumentsOf({ root: folder.root, cwd: folder.real, command }, policy);
        const outcome = await start({ argv, folder, timeoutSeconds: timeout_seconds }, execution, { policy, onStarted });
        return present(outcome, timeout_seconds);
      }),
  } satisfies ToolDefinition<typeof input, Context>;
}

function inputSchema({ defaultTimeoutSeconds, maxTimeoutSeconds }: CommandPolicy) {
  return z.strictObject({
    command: z
      .string()
      .min(1)
      .max(WORKSPACE_LIMITS.commandCharacters)
      .refine((command) => !command.includes('\0'), 'A command contains no NUL.')
      .describe('Shell command; bash where the machine has it.'),
    working_folder: z.string().min(1).default('.').describe('Folder to run in, relative to the task folder.'),
    timeout_seconds: z
      .int()
      .min(1)
      .max(maxTimeoutSeconds)
      .default(defaultTimeoutSeconds)
      .describe('Seconds after which the command is stopped.'),
  });
}

function requireFolder({ stats, shown }: ConfinedPath): void {
  if (stats === null) throw new Refusal(`${shown} does not exist.`);
  if (!stats.isDirectory()) throw new Refusal(`${shown} is a file, not a folder.`);
}

async function argumentsOf(command: ShellCommand, { sandbox, hiddenFolders }: CommandPolicy): Promise<string[]> {
  if (sandbox === 'none') return plainArguments(command);
  const { kind, detail } = await describeSandbox();
  if (kind !== 'none') return await sandboxedArguments(command, hiddenFolders);
  if (sandbox === 'required') throw new Refusal(`Commands may run only in a sandbox, and this machine has none. ${detail}`);
  return plainArguments(command);
}

interface Prepared {
  readonly argv: readonly string[];
  readonly folder: ConfinedPath;
  readonly timeoutSeconds: number;
}

async function start<Context>(
  { argv, folder, timeoutSeconds }: Prepared,
  { callId, context, signal, report }: ToolExecution<Context>,
  { policy, onStarted }: RunCommandOptions<Context>,
): Promise<CommandOutcome> {
  return await runCommand({
    argv,
    cwd: folder.real,
    environment: commandEnvironment(policy, folder.root),
    timeoutMs: timeoutSeconds * 1_000,
    graceMs: policy.graceMs,
    signal,
    report: (chunk) => report?.(chunk),
    onStarted: (process) => onStarted({ callId, context, process }),
  });
}

function present(outcome: CommandOutcome, timeoutSeconds: number): ToolResult {
  const { output, exitCode, signal, stopped, leftovers, outputBytes, omittedBytes } = outcome;
  const structured = { exit_code: exitCode, signal, stopped, output_bytes: outputBytes, omitted_bytes: omittedBytes };
  const printed = output === '' ? '(no output)' : output.replace(/\n$/, '');
  const note = leftovers ? ['[background processes that it left were ended]'] : [];
  const text = [printed, ...note, `[${endOf(outcome, timeoutSeconds)}]`].join('\n');
  return stopped === null && exitCode === 0 ? succeeded(text, structured) : failed(text, structured);
}

function endOf({ stopped, exitCode, signal }: CommandOutcome, timeoutSeconds: number): string {
  if (stopped !== null) return describeStop(stopped, timeoutSeconds);
  return signal === null ? `exit code ${exitCode}` : `ended by signal ${signal}`;
}

function describeStop(reason: StopReason, timeoutSeconds: number): string {
  switch (reason) {
    case 'timed_out':
      return `stopped after the time limit of ${timeoutSeconds} s; it may have done a part of its work`;
    case 'cancelled':
      return 'cancelled; it may have done a part of its work';
    case 'flooded':
      return `stopped because it printed more than ${WORKSPACE_LIMITS.commandFloodBytes} bytes`;
    case 'unguarded':
      return 'stopped because its guard process was killed; it may have done a part of its work';
  }
}
