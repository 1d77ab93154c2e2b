/** `echelon run`: an agent in this process, for programs and pipes (docs/headless.md). */
import type { Writable } from 'node:stream';
import { AgentSession, SessionStore } from '@echelon/agent-session';
import type { Command } from 'commander';
import { usage } from '../arguments.js';
import { CommandError, explainFailure } from '../exit-code.js';
import { type LocalSetup, openLocalSetup } from '../local/local-options.js';
import type { Terminal } from '../terminal.js';
import { AgentRun } from './agent-run.js';
import type { ResultFrame } from './frames.js';
import { CANCELLED, type Verdict } from './outcome.js';
import { readFrames } from './run-input.js';
import { addRunOptions, checkFormats, limitsOf, readPrompt, readSchema, type RunOptions } from './run-options.js';
import { createRunOutput, type RunOutput } from './run-output.js';
import { openRunSignals } from './run-signals.js';
import { RunTally } from './run-tally.js';

export function addRunCommand(program: Command, terminal: Terminal): void {
  const command = program.command('run').description('run an agent in this process, on a folder, without a server');
  addRunOptions(command).action((_options: unknown, invoked: Command) => runCommand(terminal, invoked.optsWithGlobals()));
}

/** Whatever happens, its format gets one result, last; by then the session is free for another process. */
async function runCommand(terminal: Terminal, options: RunOptions): Promise<void> {
  const startedAt = Date.now();
  const output = createRunOutput(options.outputFormat ?? (options.json ? 'json' : 'text'), terminal);
  const signals = openRunSignals(terminal);
  const { run, verdict } = await attempt(options, output, signals.signal);
  const durationMs = Date.now() - startedAt;
  const result = run?.result(durationMs, verdict) ?? emptyResult(verdict ?? CANCELLED, durationMs);
  output.end(result);
  signals.close();
  if (result.error !== null) throw new CommandError(result.error.message, result.exit_code);
  if (!(await reachesReader(terminal.out))) throw new CommandError('The result could not be written to stdout.', CANCELLED.exitCode);
}

/** Whether everything that was written has left this process: a full disk or a closed pipe is told later than it is written. */
function reachesReader(out: Writable): Promise<boolean> {
  return new Promise((resolve) => out.write('', (error) => resolve(error == null && !out.destroyed)));
}

interface Attempt {
  readonly run: AgentRun | null;
  /** Something broke that no turn tells. */
  readonly verdict: Verdict | null;
}

type Opened = (() => Promise<void> | void)[];

async function attempt(options: RunOptions, output: RunOutput, signal: AbortSignal): Promise<Attempt> {
  const opened: Opened = [];
  let run: AgentRun | null = null;
  try {
    run = await openRun({ options, output, signal, opened });
    await run.play();
    return { run, verdict: null };
  } catch (error) {
    const { exitCode, message } = explainFailure(error);
    const broken: Verdict = { subtype: run === null ? 'error_start' : 'error_during_execution', exitCode, message };
    return { run, verdict: signal.aborted ? CANCELLED : broken };
  } finally {
    for (const close of opened.toReversed()) await close();
  }
}

interface Opening {
  readonly options: RunOptions;
  readonly output: RunOutput;
  readonly signal: AbortSignal;
  /** What is to be closed, in reverse. */
  readonly opened: Opened;
}

async function openRun({ options, output, signal, opened }: Opening): Promise<AgentRun> {
  checkFormats(options);
  const schema = options.jsonSchema === undefined ? null : readSchema(options.jsonSchema);
  const setup = await openLocalSetup(options);
  opened.push(() => setup.close());
  const prompt = options.prompt ?? (options.inputFormat === 'text' ? await readPrompt(signal) : null);
  if (prompt === null && options.inputFormat === 'text' && options.resume === undefined)
    throw usage('There is no prompt: give it with -p, or on stdin.');
  const store = SessionStore.open(setup.sessionsFolder);
  opened.push(() => store.close());
  const session = await openSession(store, setup, options.resume);
  opened.push(() => session.close());
  if (prompt === null && options.inputFormat === 'text' && !session.isInterrupted)
    throw usage(`The last turn of session ${session.id} has ended: give a prompt with -p, or on stdin.`);
  const run = new AgentRun({
    session,
    modelName: setup.modelName,
    limits: limitsOf(options, setup.limits),
    schema,
    partialMessages: options.includePartialMessages === true,
    permissionPrompts: options.permissionPrompts === true,
    permissionTimeoutMs: options.permissionTimeout * 1_000,
    output,
    signal,
  });
  run.open(options.resume !== undefined);
  feed(run, prompt, options, opened);
  return run;
}

function feed(run: AgentRun, prompt: string | null, { inputFormat }: RunOptions, opened: Opened): void {
  if (prompt !== null) run.say(prompt);
  if (inputFormat === 'text') {
    if (prompt === null) run.continueLastTurn();
    return run.endInput();
  }
  const close = readFrames(process.stdin, {
    onFrame: (frame, line) => run.take(frame, line),
    onError: (line, message) => run.refuseInput(line, message),
    onEnd: () => run.endInput(),
  });
  opened.push(close);
}

async function openSession(store: SessionStore, setup: LocalSetup, resume: RunOptions['resume']): Promise<AgentSession> {
  const settings = { ...setup.settings, limitsCount: 'process' as const };
  if (resume === undefined) return AgentSession.create(store, setup.folder, settings);
  const id = resume === true ? store.findLatest(setup.folder)?.id : resume;
  if (id === undefined) throw usage(`There is no session of the folder ${setup.folder} yet.`);
  return AgentSession.open(store, id, settings);
}

function emptyResult(verdict: Verdict, durationMs: number): ResultFrame {
  return new RunTally().toResult(verdict, { session_id: null, model: null, duration_ms: durationMs, undelivered: 0 });
}
