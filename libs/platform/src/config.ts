/** The whole configuration, typed: the environment in, a value or one clear sentence per mistake out. */
import path from 'node:path';
import { type LimitName, LIMITS, type Limits, RETENTION, type Retention, type RetentionName } from '@echelon/domain';
import { limitVariable, retentionVariable, VARIABLES } from './variables.js';

export interface Config {
  readonly databaseUrl: string | null;
  readonly migrationDatabaseUrl: string | null;
  readonly redisUrl: string | null;
  readonly dataDir: string;
  readonly workspaceRoot: string;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  /** Where agents that a worker starts reach our MCP endpoint; `null` where the port is not known beforehand. */
  readonly mcpUrl: string | null;
  /** Names of variables that those agents may see. */
  readonly agentVariables: readonly string[];
  readonly slots: number;
  readonly commandSlots: number | null;
  /** What running commands may still use once the process is told to end (K23). */
  readonly handOverMs: number;
  readonly queueNamespace: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly model: string | null;
  readonly limits: Limits;
  readonly retention: Retention;
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
  for (const { name, schema, rule } of VARIABLES) {
    const parsed = schema.safeParse(env[name] || undefined);
    if (parsed.success) values.set(name, parsed.data);
    else mistakes.push(`${name} must be ${rule}.`);
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes.join('\n'));
  return toConfig(values, env);
}

function toConfig(values: ReadonlyMap<string, unknown>, env: Config['env']): Config {
  const find = <T>(name: (typeof VARIABLES)[number]['name']): T | null => (values.get(name) as T | undefined) ?? null;
  const dataDir = path.resolve(find<string>('ECHELON_DATA_DIR') ?? '.echelon');
  const host = find<string>('ECHELON_HOST') ?? '127.0.0.1';
  const port = find<number>('ECHELON_PORT') ?? 4600;
  return {
    databaseUrl: find('DATABASE_URL'),
    migrationDatabaseUrl: find('ECHELON_MIGRATION_DATABASE_URL'),
    redisUrl: find('REDIS_URL'),
    dataDir,
    workspaceRoot: path.resolve(find<string>('ECHELON_WORKSPACE_ROOT') ?? path.join(dataDir, 'workspaces')),
    host,
    port,
    allowedHosts: listOf(find<string>('ECHELON_ALLOWED_HOSTS')),
    mcpUrl: find('ECHELON_MCP_URL') ?? ownMcpUrl(host, port),
    agentVariables: listOf(find<string>('ECHELON_AGENT_VARIABLES')),
    slots: find('ECHELON_SLOTS') ?? 64,
    commandSlots: find('ECHELON_COMMAND_SLOTS'),
    handOverMs: (find<number>('ECHELON_HAND_OVER_SECONDS') ?? 25) * 1_000,
    queueNamespace: find('ECHELON_QUEUE_NAMESPACE') ?? 'main',
    logLevel: find('ECHELON_LOG_LEVEL') ?? 'info',
    model: find('ECHELON_MODEL'),
    limits: mapValues(LIMITS, (limit, name: LimitName) => find<number>(limitVariable(name)) ?? limit.default),
    retention: mapValues(RETENTION, ({ days }, name: RetentionName) => find<number>(retentionVariable(name)) ?? days),
    env,
  };
}

function listOf(names: string | null): readonly string[] {
  return (names ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

/** A server that listens everywhere is reached on this machine's own address. */
function ownMcpUrl(host: string, port: number): string | null {
  if (port === 0) return null;
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${reached}:${port}/mcp`;
}

function mapValues<Name extends string, Of>(
  table: Readonly<Record<Name, Of>>,
  value: (of: Of, name: Name) => number,
): Record<Name, number> {
  return Object.fromEntries(Object.entries<Of>(table).map(([name, of]) => [name, value(of, name as Name)])) as Record<Name, number>;
}
