/** `echelon run`: an agent in this process, for programs and pipes (docs/headless.md). */
import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { LoopLimits } from '@echelon/agent-loop';
import { AgentSession, createStructuredOutput, SessionStore } from '@echelon/agent-session';
import { type Command, Option } from 'commander';
import { textOf, usage, wholeNumber } from '../arguments.js';
import { CommandError, explainFailure } from '../exit-code.js';
import { addLocalOptions, type LocalOptions, type LocalSetup, openLocalSetup } from '../local/local-options.js';
import type { Terminal } from '../terminal.js';
import { AgentRun } from './agent-run.js';
import type { ResultFrame } from './frames.js';
import { CANCELLED, type Verdict } from './outcome.js';
import { readFrames } from './run-input.js';
import { createRunOutput, type OutputFormat, type RunOutput } from './run-output.js';
import { openRunSignals } from './run-signals.js';
import { RunTally } from './run-tally.js';

interface RunOptions extends LocalOptions {
  readonly json?: boolean;
  readonly prompt?: string;
  /** An id, or the last session of the folder. */
  readonly resume?: string | true;
  readonly maxTurns?: number;
  readonly maxToolCalls?: number;
  readonly maxWallSeconds?: number;
  readonly maxTokens?: number;
  readonly jsonSchema?: string;
  readonly inputFormat: 'text' | 'stream-json';
  readonly outputFormat?: OutputFormat;
  readonly includePartialMessages?: boolean;
  readonly permissionPrompts?: boolean;
  readonly permissionTimeout: number;
}

const PERMISSION_SECONDS = 60;
const MOST_SECONDS = 2_000_000;

export function addRunCommand(program: Command, terminal: Terminal): void {
  const command = program.command('run').description('run an agent in this process, on a folder, without a server');
  addLocalOptions(command)
    .option('-p, --prompt <text>', 'the prompt (default: what stdin holds)', textOf('The prompt'))
    .option('--resume [session]', 'go on with a session: the one named, or the folder’s last')
    .option('--max-turns <number>', 'responses of the model, in all prompts of the run', wholeNumber('--max-turns'))
    .option('--max-tool-calls <number>', 'calls of tools that start', wholeNumber('--max-tool-calls'))
    .option('--max-wall-seconds <number>', 'seconds that its turns take', wholeNumber('--max-wall-seconds', MOST_SECONDS))
    .option('--max-tokens <number>', 'tokens of all requests and responses', wholeNumber('--max-tokens'))
    .option('--json-schema <schema>', 'JSON schema of the result, as a file or as JSON')
    .addOption(new Option('--input-format <format>', 'what stdin holds').choices(['text', 'stream-json']).default('text'))
    .addOption(new Option('--output-format <format>', 'what stdout gets (default: text)').choices(['text', 'json', 'stream-json']))
    .option('--include-partial-messages', 'tell text and output of tools as they come (stream-json)')
    .option('--permission-prompts', 'ask the client what the mode leaves open (stream-json)')
    .addOption(
      new Option('--permission-timeout <seconds>', 'how long the client has for an answer')
        .argParser(wholeNumber('--permission-timeout', MOST_SECONDS))
        .default(PERMISSION_SECONDS),
    )
    .action((_options: unknown, invoked: Command) => runCommand(terminal, invoked.optsWithGlobals()));
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
  const settings = { ...setup.settings, capCounts: 'process' as const };
  if (resume === undefined) return AgentSession.create(store, setup.folder, settings);
  const id = resume === true ? store.findLatest(setup.folder)?.id : resume;
  if (id === undefined) throw usage(`There is no session of the folder ${setup.folder} yet.`);
  return AgentSession.open(store, id, settings);
}

function checkFormats({ inputFormat, outputFormat, includePartialMessages, permissionPrompts }: RunOptions): void {
  const framed = outputFormat === 'stream-json';
  if (inputFormat === 'stream-json' && !framed) throw usage('--input-format stream-json needs --output-format stream-json.');
  if (includePartialMessages && !framed) throw usage('--include-partial-messages needs --output-format stream-json.');
  if (permissionPrompts && inputFormat !== 'stream-json') throw usage('--permission-prompts needs --input-format stream-json.');
}

/** What stdin holds; `null` where a person sits there, or nothing came. */
async function readPrompt(signal: AbortSignal): Promise<string | null> {
  if (process.stdin.isTTY) return null;
  const text = await readText(addAbortSignal(signal, process.stdin));
  return text.trim() === '' ? null : text;
}

function readSchema(given: string): Readonly<Record<string, unknown>> {
  try {
    const schema = JSON.parse(given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8')) as Readonly<Record<string, unknown>>;
    createStructuredOutput(schema);
    return schema;
  } catch (error) {
    throw usage(`--json-schema is no JSON schema of an object: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Options win over the settings file. */
function limitsOf({ maxTurns, maxToolCalls, maxWallSeconds, maxTokens }: RunOptions, limits: LoopLimits): LoopLimits {
  return {
    ...limits,
    ...(maxTurns === undefined ? {} : { turnCap: maxTurns }),
    budgets: {
      ...limits.budgets,
      ...(maxToolCalls === undefined ? {} : { launches: maxToolCalls }),
      ...(maxWallSeconds === undefined ? {} : { wallTimeMs: maxWallSeconds * 1_000 }),
      ...(maxTokens === undefined ? {} : { tokens: maxTokens }),
    },
  };
}

function emptyResult(verdict: Verdict, durationMs: number): ResultFrame {
  return new RunTally().toResult(verdict, { session_id: null, model: null, duration_ms: durationMs, undelivered: 0 });
}
