/** What `echelon run` is told on its command line and on stdin. */
import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { LoopLimits } from '@echelon/agent-loop';
import { createStructuredOutput } from '@echelon/agent-session';
import { type Command, Option } from 'commander';
import { textOf, usage, wholeNumber } from '../arguments.js';
import { addLocalOptions, type LocalOptions } from '../local/local-options.js';
import type { OutputFormat } from './run-output.js';

export interface RunOptions extends LocalOptions {
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

export function addRunOptions(command: Command): Command {
  return addLocalOptions(command)
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
    );
}

/** Throws a `CommandError` where options do not go together. */
export function checkFormats({ inputFormat, outputFormat, includePartialMessages, permissionPrompts }: RunOptions): void {
  const framed = outputFormat === 'stream-json';
  if (inputFormat === 'stream-json' && !framed) throw usage('--input-format stream-json needs --output-format stream-json.');
  if (includePartialMessages && !framed) throw usage('--include-partial-messages needs --output-format stream-json.');
  if (permissionPrompts && inputFormat !== 'stream-json') throw usage('--permission-prompts needs --input-format stream-json.');
}

/** What stdin holds; `null` where a person sits there, or nothing came. */
export async function readPrompt(signal: AbortSignal): Promise<string | null> {
  if (process.stdin.isTTY) return null;
  const text = await readText(addAbortSignal(signal, process.stdin));
  return text.trim() === '' ? null : text;
}

/** Throws a `CommandError` where it is none. */
export function readSchema(given: string): Readonly<Record<string, unknown>> {
  try {
    const schema = JSON.parse(given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8')) as Readonly<Record<string, unknown>>;
    createStructuredOutput(schema);
    return schema;
  } catch (error) {
    throw usage(`--json-schema is no JSON schema of an object: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Options win over the settings file. */
export function limitsOf({ maxTurns, maxToolCalls, maxWallSeconds, maxTokens }: RunOptions, limits: LoopLimits): LoopLimits {
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
