/** `echelon profile …`: which runtime and model run the agents of a workspace. */
import { type AgentProfile, CreateProfile, HooksConfig } from '@echelon/contracts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PROFILE, textOf, usage, wholeNumber, WORKSPACE } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { checkJson, readJson } from './json-file.js';
import { addPaging, describePage, type PagingOptions, toPageQuery } from './paging.js';
import { print, table, type Terminal } from './terminal.js';

interface Common extends ConnectionOptions {
  readonly json?: boolean;
}

interface Content {
  readonly runtime?: AgentProfile['runtime'];
  readonly command?: string[];
  readonly provider?: string;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly maxOutputTokens?: number;
  readonly contextWindow?: number;
  readonly fallbackModel?: string[];
  readonly hooks?: string;
}

export function addProfileCommand(program: Command, terminal: Terminal): void {
  const profile = program.command('profile').description('list, create, change and archive agent profiles');
  addReading(profile, terminal);
  addCreate(profile, terminal);
  addUpdate(profile, terminal);
  profile
    .command('archive')
    .description('offer a profile for new tasks no longer')
    .argument('<profile>', 'profile id', PROFILE)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      show(terminal, options, await connect(options).profiles.archive(id));
    });
}

function addReading(profile: Command, terminal: Terminal): void {
  addPaging(profile.command('list').description('list agent profiles, newest first'))
    .option('--workspace <id>', 'only those of this workspace', WORKSPACE)
    .action(async (_options: unknown, command: Command) => {
      const options: Common & PagingOptions & { workspace?: string } = command.optsWithGlobals();
      const where = options.workspace ? { workspace_id: options.workspace } : {};
      const page = await connect(options).profiles.list({ ...toPageQuery(options), ...where });
      print(terminal, options.json, page, () => describePage(page, summarize, 'No profiles.'));
    });
  profile
    .command('show')
    .description('show one agent profile')
    .argument('<profile>', 'profile id', PROFILE)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const found = await connect(options).profiles.get(id);
      print(terminal, options.json, found, () => table(Object.entries(found).map(([name, value]) => [name, describe(value)])));
    });
}

function addCreate(profile: Command, terminal: Terminal): void {
  addContent(profile.command('create').description('create an agent profile'))
    .argument('<name>', 'its name', textOf('The name'))
    .requiredOption('--workspace <id>', 'the workspace that it is for', WORKSPACE)
    .action(async (name: string, _options: unknown, command: Command) => {
      const options: Common & Content & { workspace: string } = command.optsWithGlobals();
      if (options.runtime === 'acp' && !options.command) throw usage('Give --command: what starts the agent, such as "gemini --acp".');
      if (options.runtime !== 'acp' && !(options.provider && options.model))
        throw usage('Give --provider and --model; with --runtime external any words will do.');
      const input = { ...(await toContent(options)), workspace_id: options.workspace, name };
      show(terminal, options, await connect(options).profiles.create(input));
    });
}

function addUpdate(profile: Command, terminal: Terminal): void {
  addContent(profile.command('update').description('change an agent profile, from the next turn on'))
    .argument('<profile>', 'profile id', PROFILE)
    .option('--name <name>', 'its name', textOf('--name'))
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common & Content & { name?: string } = command.optsWithGlobals();
      const withoutCommand = options.runtime && options.runtime !== 'acp' ? { command: null } : {};
      const changes = { ...withoutCommand, ...(await toContent(options)), ...(options.name ? { name: options.name } : {}) };
      if (Object.keys(changes).length === 0) throw usage('Name at least one thing to change.');
      show(terminal, options, await connect(options).profiles.update(id, changes));
    });
}

function addContent(command: Command): Command {
  return command
    .addOption(
      new Option('--runtime <runtime>', 'what runs the agent; loop where left out').choices(['loop', 'acp', 'external', 'passthrough']),
    )
    .addOption(new Option('--command <words>', 'what starts the agent of runtime acp: words, or a JSON array of them').argParser(toWords))
    .option('--provider <provider>', 'model provider, such as compatible, anthropic or openai', textOf('--provider'))
    .option('--model <model>', 'model name', textOf('--model'))
    .option('--system-prompt <text>', 'text before the conversation')
    .option('--max-output-tokens <n>', 'tokens of one answer at most', wholeNumber('--max-output-tokens'))
    .option(
      '--context-window <n>',
      'tokens that the model reads and writes together; 128,000 where left out',
      wholeNumber('--context-window'),
    )
    .option('--fallback-model <model...>', 'models to try when the first fails, up to 3')
    .option('--hooks <file>', 'JSON with the commands and HTTP calls to run around prompts and tools (docs/hooks.md); {} removes them');
}

async function toContent(options: Content) {
  const hooks = options.hooks === undefined ? undefined : checkJson(await readJson(options.hooks, 'hooks'), 'hooks', HooksConfig);
  return {
    ...(options.runtime ? { runtime: options.runtime } : {}),
    ...(options.command ? { command: options.command } : {}),
    ...(options.provider ? { provider: options.provider } : {}),
    ...(options.model ? { model: options.model } : {}),
    ...(options.systemPrompt === undefined ? {} : { system_prompt: options.systemPrompt }),
    ...(options.maxOutputTokens ? { max_output_tokens: options.maxOutputTokens } : {}),
    ...(options.contextWindow ? { context_window: options.contextWindow } : {}),
    ...(options.fallbackModel ? { fallback_models: options.fallbackModel } : {}),
    ...(hooks ? { hooks } : {}),
  };
}

/** No shell reads the command, so that there is nothing to quote: who needs a space inside of a word writes JSON. */
function toWords(value: string): string[] {
  if (!value.trimStart().startsWith('[')) return value.split(/\s+/).filter(Boolean);
  try {
    return CreateProfile.shape.command.unwrap().parse(JSON.parse(value));
  } catch {
    throw new InvalidArgumentError('It is neither words nor a JSON array of them.');
  }
}

function show(terminal: Terminal, { json }: Common, profile: AgentProfile): void {
  print(terminal, json, profile, () => table([summarize(profile)]));
}

function summarize({ id, name, runtime, provider, model, archived_at }: AgentProfile): readonly string[] {
  return [id, name, runtime, `${provider} ${model}`, archived_at ? 'archived' : ''];
}

function describe(value: unknown): string {
  if (value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
