/** The whole configuration, typed and described in one place: the environment in, a value or one clear sentence per mistake out. */
import path from 'node:path';
import { DEFAULT_LIMITS, type LimitName, LIMITS, type Limits } from '@echelon/domain';
import { z } from 'zod';

interface Variable {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly meaning: string;
  readonly fallback: string;
  readonly secret?: boolean;
}

const port = z.coerce.number().int().min(0).max(65_535);
const count = (most: number) => z.coerce.number().int().min(1).max(most);

/** Every variable that Echelon reads; the documentation and `echelon doctor` print this table. */
export const VARIABLES = [
  {
    name: 'DATABASE_URL',
    schema: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    meaning: 'Postgres to use instead of the embedded one',
    fallback: 'embedded',
    secret: true,
  },
  {
    name: 'REDIS_URL',
    schema: z.url({ protocol: /^rediss?$/ }).optional(),
    meaning: 'Redis for the queue and live events',
    fallback: 'Postgres',
    secret: true,
  },
  {
    name: 'ECHELON_DATA_DIR',
    schema: z.string().min(1).default('.echelon'),
    meaning: 'folder of the embedded Postgres and of the task folders',
    fallback: '.echelon',
  },
  {
    name: 'ECHELON_WORKSPACE_ROOT',
    schema: z.string().min(1).optional(),
    meaning: 'folder that holds the task folders',
    fallback: '<data folder>/workspaces',
  },
  { name: 'ECHELON_HOST', schema: z.string().min(1).default('127.0.0.1'), meaning: 'address to listen on', fallback: '127.0.0.1' },
  { name: 'ECHELON_PORT', schema: port.default(4600), meaning: 'port to listen on; 0 takes a free one', fallback: '4600' },
  {
    name: 'ECHELON_ALLOWED_HOSTS',
    schema: z.string().default(''),
    meaning: 'further host names, separated by commas, under which the server is reached',
    fallback: 'loopback names',
  },
  { name: 'ECHELON_SLOTS', schema: count(10_000).default(64), meaning: 'turns that one worker runs at once', fallback: '64' },
  {
    name: 'ECHELON_COMMAND_SLOTS',
    schema: count(1_000).optional(),
    meaning: 'commands that one worker runs at once',
    fallback: 'processor cores',
  },
  {
    name: 'ECHELON_QUEUE_NAMESPACE',
    schema: z
      .string()
      .regex(/^[\w-]{1,40}$/)
      .default('main'),
    meaning: 'keeps deployments apart that share a queue backend',
    fallback: 'main',
  },
  {
    name: 'ECHELON_LOG_LEVEL',
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    meaning: 'least level of log lines',
    fallback: 'info',
  },
  {
    name: 'ECHELON_MODEL',
    schema: z.string().min(1).optional(),
    meaning: 'model of the first profile',
    fallback: 'depends on the provider',
  },
  {
    name: 'ECHELON_MODEL_BASE_URL',
    schema: z.url().optional(),
    meaning: 'any endpoint that speaks chat-completions, a local engine too',
    fallback: 'none',
  },
  {
    name: 'ECHELON_MODEL_API_KEY',
    schema: z.string().min(1).optional(),
    meaning: 'its key, where it wants one',
    fallback: 'none',
    secret: true,
  },
  {
    name: 'ECHELON_MODEL_REPEATS_CALL_IDS',
    schema: z.enum(['true', 'false']).optional(),
    meaning: 'true where the endpoint gives the same call ids in every response',
    fallback: 'false',
  },
  {
    name: 'ECHELON_SCRIPTED_MODEL_URL',
    schema: z.url().optional(),
    meaning: 'a scripted model server, for tests and the demo',
    fallback: 'none',
  },
  { name: 'OPENAI_API_KEY', schema: z.string().min(1).optional(), meaning: 'key of the provider openai', fallback: 'none', secret: true },
  { name: 'OPENAI_BASE_URL', schema: z.url().optional(), meaning: 'another address of the provider openai', fallback: 'the vendor’s' },
  {
    name: 'ANTHROPIC_API_KEY',
    schema: z.string().min(1).optional(),
    meaning: 'key of the provider anthropic',
    fallback: 'none',
    secret: true,
  },
  {
    name: 'ANTHROPIC_BASE_URL',
    schema: z.url().optional(),
    meaning: 'another address of the provider anthropic',
    fallback: 'the vendor’s',
  },
  ...Object.entries(LIMITS)
    .filter(([, limit]) => !('fixed' in limit))
    .map(([name, limit]) => ({
      name: limitVariable(name),
      schema: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
      meaning: `limit: ${limit.meaning} (${limit.unit})`,
      fallback: String(limit.default),
    })),
] as const satisfies readonly Variable[];

/** Variables whose values never appear in logs. */
export const SECRETS: readonly string[] = VARIABLES.filter((variable) => 'secret' in variable).map(({ name }) => name);

export interface Config {
  readonly databaseUrl: string | null;
  readonly redisUrl: string | null;
  readonly dataDir: string;
  readonly workspaceRoot: string;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly slots: number;
  readonly commandSlots: number | null;
  readonly queueNamespace: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly model: string | null;
  readonly limits: Limits;
  /** The variables as they were given, for providers and for nothing else. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A variable that means nothing; `message` is one sentence. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads the configuration; an empty variable counts as absent. Throws `ConfigError` naming every variable that is wrong. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const mistakes: string[] = [];
  const values = new Map<string, unknown>();
  for (const { name, schema } of VARIABLES) {
    const parsed = schema.safeParse(env[name] || undefined);
    if (parsed.success) values.set(name, parsed.data);
    else mistakes.push(`${name}: ${parsed.error.issues[0]?.message ?? 'not usable'}`);
  }
  if (mistakes.length > 0) throw new ConfigError(`The configuration is wrong. ${mistakes.join('; ')}.`);
  return toConfig(values, env);
}

function toConfig(values: ReadonlyMap<string, unknown>, env: Config['env']): Config {
  const get = <T>(name: (typeof VARIABLES)[number]['name']): T => values.get(name) as T;
  const dataDir = path.resolve(get<string>('ECHELON_DATA_DIR'));
  return {
    databaseUrl: get<string | undefined>('DATABASE_URL') ?? null,
    redisUrl: get<string | undefined>('REDIS_URL') ?? null,
    dataDir,
    workspaceRoot: path.resolve(get<string | undefined>('ECHELON_WORKSPACE_ROOT') ?? path.join(dataDir, 'workspaces')),
    host: get('ECHELON_HOST'),
    port: get('ECHELON_PORT'),
    allowedHosts: get<string>('ECHELON_ALLOWED_HOSTS')
      .split(',')
      .map((host) => host.trim())
      .filter(Boolean),
    slots: get('ECHELON_SLOTS'),
    commandSlots: get<number | undefined>('ECHELON_COMMAND_SLOTS') ?? null,
    queueNamespace: get('ECHELON_QUEUE_NAMESPACE'),
    logLevel: get('ECHELON_LOG_LEVEL'),
    model: get<string | undefined>('ECHELON_MODEL') ?? null,
    limits: Object.fromEntries(
      Object.keys(LIMITS).map((name) => [
        name,
        (values.get(limitVariable(name)) as number | undefined) ?? DEFAULT_LIMITS[name as LimitName],
      ]),
    ) as Record<LimitName, number>,
    env,
  };
}

function limitVariable(name: string): string {
  return `ECHELON_LIMIT_${name.toUpperCase()}`;
}
