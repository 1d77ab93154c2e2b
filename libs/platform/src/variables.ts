/** Every variable that Echelon reads, as a table: the configuration, the documentation and `echelon doctor` go by it. */
import { nearestNames } from '@echelon/agent-loop/nearest-names';
import { LIMITS, RETENTION } from '@echelon/domain';
import { z } from 'zod';

interface Variable {
  readonly name: string;
  readonly schema: z.ZodType;
  /** What a usable value is: it ends the sentence "NAME must be …". */
  readonly rule: string;
  readonly meaning: string;
  readonly fallback: string;
  readonly secret?: boolean;
}

const text = { schema: z.string().optional(), rule: 'a text' };
const address = { schema: z.url().optional(), rule: 'an address such as https://host/path' };

function addressOf(first: string, ...others: readonly string[]) {
  const schemes = [first, ...others];
  const protocol = new RegExp(`^(${schemes.join('|')})$`);
  return { schema: z.url({ protocol }).optional(), rule: `an address that starts with ${schemes.map((it) => `${it}://`).join(' or ')}` };
}

function wholeNumber(least: number, most: number) {
  return { schema: z.coerce.number().int().min(least).max(most).optional(), rule: `a whole number from ${least} to ${most}` };
}

function oneOf<const Words extends readonly string[]>(...words: Words) {
  return { schema: z.enum(words).optional(), rule: `one of: ${words.join(', ')}` };
}

export const VARIABLES = [
  {
    name: 'DATABASE_URL',
    ...addressOf('postgres', 'postgresql'),
    meaning: 'Postgres to use instead of the embedded one',
    fallback: 'embedded',
    secret: true,
  },
  {
    name: 'ECHELON_MIGRATION_DATABASE_URL',
    ...addressOf('postgres', 'postgresql'),
    meaning: 'the same database as the login that owns its tables, where DATABASE_URL names one that does not',
    fallback: 'DATABASE_URL',
    secret: true,
  },
  {
    name: 'REDIS_URL',
    ...addressOf('redis', 'rediss'),
    meaning: 'Redis for the queue and live events',
    fallback: 'Postgres',
    secret: true,
  },
  { name: 'ECHELON_DATA_DIR', ...text, meaning: 'folder of the embedded Postgres and of the task folders', fallback: '.echelon' },
  { name: 'ECHELON_WORKSPACE_ROOT', ...text, meaning: 'folder that holds the task folders', fallback: '<data folder>/workspaces' },
  { name: 'ECHELON_HOST', ...text, meaning: 'address to listen on', fallback: '127.0.0.1' },
  { name: 'ECHELON_PORT', ...wholeNumber(0, 65_535), meaning: 'port to listen on; 0 takes a free one', fallback: '4600' },
  {
    name: 'ECHELON_ALLOWED_HOSTS',
    ...text,
    meaning: 'further host names, separated by commas, under which the server is reached',
    fallback: 'loopback names',
  },
  {
    name: 'ECHELON_MCP_URL',
    ...address,
    meaning: 'MCP endpoint as the agents reach it that a worker starts (runtime acp)',
    fallback: 'http://<host>:<port>/mcp',
  },
  {
    name: 'ECHELON_AGENT_VARIABLES',
    ...text,
    meaning: 'names of variables, separated by commas, that those agents may see beside PATH, HOME and the like',
    fallback: 'none',
  },
  { name: 'ECHELON_SLOTS', ...wholeNumber(1, 10_000), meaning: 'turns that one worker runs at once', fallback: '64' },
  {
    name: 'ECHELON_COMMAND_SLOTS',
    ...wholeNumber(1, 1_000),
    meaning: 'commands that one worker runs at once',
    fallback: 'processor cores',
  },
  {
    name: 'ECHELON_HAND_OVER_SECONDS',
    ...wholeNumber(0, 600),
    meaning: 'seconds that running commands get when a worker ends; it is gone 5 s later at most',
    fallback: '25',
  },
  {
    name: 'ECHELON_QUEUE_NAMESPACE',
    schema: z
      .string()
      .regex(/^[\w-]{1,40}$/)
      .optional(),
    rule: '1 to 40 letters, digits, _ and -',
    meaning: 'keeps deployments apart that share a queue backend',
    fallback: 'main',
  },
  {
    name: 'ECHELON_LOG_LEVEL',
    ...oneOf('debug', 'info', 'warn', 'error', 'silent'),
    meaning: 'least level of log lines',
    fallback: 'info',
  },
  { name: 'ECHELON_MODEL', ...text, meaning: 'model of the first profile', fallback: 'depends on the provider' },
  {
    name: 'ECHELON_MODEL_BASE_URL',
    ...address,
    meaning: 'any endpoint that speaks chat-completions, a local engine too',
    fallback: 'none',
  },
  { name: 'ECHELON_MODEL_API_KEY', ...text, meaning: 'its key, where it wants one', fallback: 'none', secret: true },
  {
    name: 'ECHELON_MODEL_REPEATS_CALL_IDS',
    ...oneOf('true', 'false'),
    meaning: 'true where the endpoint gives the same call ids in every response',
    fallback: 'false',
  },
  { name: 'ECHELON_SCRIPTED_MODEL_URL', ...address, meaning: 'a scripted model server, for tests and the demo', fallback: 'none' },
  { name: 'ECHELON_URL', ...address, meaning: 'server that the commands talk to', fallback: 'this machine’s' },
  { name: 'ECHELON_TOKEN', ...text, meaning: 'operator’s token of the commands', fallback: 'this machine’s', secret: true },
  { name: 'OPENAI_API_KEY', ...text, meaning: 'key of the provider openai', fallback: 'none', secret: true },
  { name: 'OPENAI_BASE_URL', ...address, meaning: 'another address of the provider openai', fallback: 'the vendor’s' },
  { name: 'ANTHROPIC_API_KEY', ...text, meaning: 'key of the provider anthropic', fallback: 'none', secret: true },
  { name: 'ANTHROPIC_BASE_URL', ...address, meaning: 'another address of the provider anthropic', fallback: 'the vendor’s' },
  ...Object.entries(LIMITS)
    .filter(([, limit]) => !('fixed' in limit))
    .map(([name, limit]) => ({
      name: limitVariable(name),
      ...wholeNumber(0, Number.MAX_SAFE_INTEGER),
      meaning: `limit: ${limit.meaning} (${limit.unit})`,
      fallback: String(limit.default),
    })),
  ...Object.entries(RETENTION).map(([name, { days, meaning }]) => ({
    name: retentionVariable(name),
    ...wholeNumber(0, 36_500),
    meaning: `days kept: ${meaning}; 0 keeps for ever`,
    fallback: String(days),
  })),
] as const satisfies readonly Variable[];

/** Variables whose values never appear in logs. */
export const SECRETS: readonly string[] = VARIABLES.filter((variable) => 'secret' in variable).map(({ name }) => name);

/** Name of the variable that changes a limit. */
export function limitVariable(limit: string): string {
  return `ECHELON_LIMIT_${limit.toUpperCase()}`;
}

/** Name of the variable that changes how long something is kept. */
export function retentionVariable(name: string): string {
  return `ECHELON_KEEP_${name.toUpperCase()}_DAYS`;
}

export interface UnknownVariable {
  readonly name: string;
  /** The known name that is most like it. */
  readonly nearest: string;
}

/** Variables that look like ours and that nothing reads: mistyped, most likely. Those of our test programs, and the mark of an agent's command, are left out. */
export function findUnknownVariables(env: Readonly<Record<string, string | undefined>> = process.env): readonly UnknownVariable[] {
  const known = VARIABLES.map(({ name }) => name).filter((name) => name.startsWith('ECHELON_'));
  return Object.keys(env)
    .filter((name) => /^ECHELON_(?!TEST_|DEEP$|WRITE_GOLDEN$|COMMAND_ID$)/.test(name) && !known.includes(name))
    .map((name) => ({ name, nearest: nearestNames(name, known, 1)[0] ?? '' }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
