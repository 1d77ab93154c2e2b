/** What the surfaces that run the loop in this process take in common: options, the settings file, the environment, in this order. */
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { LoopLimits, ModelTarget } from '@echelon/agent-loop';
import { SESSION_TOOLS, type SessionSettings } from '@echelon/agent-session';
import { matchesPattern, type PermissionRule } from '@echelon/domain';
import { chooseProvider, createModelClient, DEFAULT_MODELS, type ProviderName, providersFromEnv } from '@echelon/model-clients';
import { type Command, Option } from 'commander';
import { usage } from '../arguments.js';
import { CommandError, EXIT } from '../exit-code.js';
import { withOwnScriptedModel } from './own-scripted-model.js';
import { PermissionModeName, readSettingsFile, type SettingsFile } from './settings-file.js';

export interface LocalOptions {
  readonly cwd?: string;
  readonly provider?: ProviderName;
  readonly model?: string;
  readonly mode?: SessionSettings['mode'];
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly settings?: string;
}

export interface LocalSetup {
  /** Absolute. */
  readonly folder: string;
  /** Where sessions of this machine are kept. */
  readonly sessionsFolder: string;
  readonly settings: SessionSettings;
  readonly limits: LoopLimits;
  /** For people: which model answers; a scripted one says so. */
  readonly modelName: string;
}

export function addLocalOptions(command: Command): Command {
  return addSessionOptions(command.option('--cwd <folder>', 'folder to work in (default: the current one)'));
}

/** Those of a surface whose sessions bring their own folders. */
export function addSessionOptions(command: Command): Command {
  const collect = (given: string, before: readonly string[] = []): readonly string[] => [...before, given];
  return command
    .addOption(new Option('--provider <name>', 'provider of the model').choices(Object.keys(DEFAULT_MODELS)))
    .option('--model <name>', 'model (default: ECHELON_MODEL, or the provider’s first)')
    .addOption(new Option('--mode <mode>', 'what may run unasked').choices(PermissionModeName.options))
    .option('--allow <tool[:pattern]>', 'allow a tool, or its commands or paths that fit; may repeat', collect)
    .option('--deny <tool[:pattern]>', 'forbid a tool, or its commands or paths that fit; may repeat', collect)
    .option('--settings <file>', 'settings file (default: settings.json in ECHELON_DATA_DIR or ~/.echelon)');
}

/** Reads everything that a session needs; a scripted model plays in this process where nobody says where one answers. Throws `CommandError`. */
export async function openLocalSetup(
  options: LocalOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<LocalSetup & { readonly close: () => Promise<void> }> {
  const chosen = options.provider ?? readFile(options, env).provider;
  if (chosen !== 'scripted') return { ...readLocalSetup(options, env), close: () => Promise.resolve() };
  const scripted = await withOwnScriptedModel(env, async () => (await import('./local-script.js')).localScript);
  try {
    return { ...readLocalSetup(options, scripted.env), close: scripted.close };
  } catch (error) {
    await scripted.close();
    throw error;
  }
}

function readLocalSetup(options: LocalOptions, env: NodeJS.ProcessEnv): LocalSetup {
  const file = readFile(options, env);
  const folder = path.resolve(options.cwd ?? '.');
  if (!existsSync(folder)) throw usage(`There is no folder ${folder}.`);
  if (!statSync(folder).isDirectory()) throw usage(`${folder} is no folder.`);
  const { models, name } = chooseModels(options, file, env);
  return {
    folder,
    sessionsFolder: path.join(dataFolder(env), 'sessions'),
    modelName: name,
    limits: limitsOf(file),
    settings: {
      models,
      rules: [...file.rules, ...rulesOf('allow', options.allow), ...rulesOf('deny', options.deny)],
      mode: options.mode ?? file.mode ?? 'ask',
      instructions: file.instructions,
      hooks: file.hooks,
      speculate: file.speculate,
    },
  };
}

function dataFolder(env: NodeJS.ProcessEnv): string {
  return path.resolve(env.ECHELON_DATA_DIR || path.join(homedir(), '.echelon'));
}

function readFile({ settings }: LocalOptions, env: NodeJS.ProcessEnv): SettingsFile {
  return readSettingsFile(path.resolve(settings ?? path.join(dataFolder(env), 'settings.json')), settings !== undefined);
}

function chooseModels(options: LocalOptions, file: SettingsFile, env: NodeJS.ProcessEnv): { models: readonly ModelTarget[]; name: string } {
  const provider = options.provider ?? file.provider ?? chooseProvider(env);
  if (provider === null)
    throw new CommandError(
      'No model is set up: set ANTHROPIC_API_KEY, OPENAI_API_KEY or ECHELON_MODEL_BASE_URL (README, Models).',
      EXIT.cannotStart,
    );
  const config = providersFromEnv(env)[provider];
  if (config.unavailable !== undefined)
    throw new CommandError(`The provider ${provider} cannot be used: ${config.unavailable}.`, EXIT.cannotStart);
  const client = createModelClient(config);
  const named = options.model ?? file.model ?? (env.ECHELON_MODEL || DEFAULT_MODELS[provider]);
  const models = [named, ...file.fallback_models].map((model): ModelTarget => ({
    client,
    model,
    ...(file.max_output_tokens === undefined ? {} : { maxOutputTokens: file.max_output_tokens }),
    ...(file.context_window === undefined ? {} : { contextWindow: file.context_window }),
  }));
  return { models, name: provider === 'scripted' ? `SCRIPTED (${named})` : `${provider} ${named}` };
}

function limitsOf({ limits }: SettingsFile): LoopLimits {
  const { max_turns, max_tool_calls, max_wall_seconds, max_tokens } = limits;
  return {
    ...(max_turns === undefined ? {} : { turnCap: max_turns }),
    budgets: {
      ...(max_tool_calls === undefined ? {} : { launches: max_tool_calls }),
      ...(max_wall_seconds === undefined ? {} : { wallTimeMs: max_wall_seconds * 1_000 }),
      ...(max_tokens === undefined ? {} : { tokens: max_tokens }),
    },
  };
}

/** `run_command:git *` is a rule on its commands, `edit_file:src/*` one on its paths, `edit_file` one on the whole tool. */
function rulesOf(decision: PermissionRule['decision'], given: readonly string[] = []): readonly PermissionRule[] {
  return given.map((text) => {
    const [tool = '', ...rest] = text.split(':');
    const pattern = rest.length === 0 ? undefined : rest.join(':');
    if (tool === '' || pattern === '') throw usage(`${JSON.stringify(text)} is no rule: write a tool, or tool:pattern.`);
    // A rule on a tool that does not exist would seem to forbid something.
    if (!SESSION_TOOLS.some((name) => matchesPattern(tool, name)))
      throw usage(`There is no tool ${JSON.stringify(tool)} to ${decision}: there are ${SESSION_TOOLS.join(', ')}.`);
    if (pattern === undefined) return { decision, tool };
    return tool === 'run_command' ? { decision, tool, command: pattern } : { decision, tool, path: pattern };
  });
}
