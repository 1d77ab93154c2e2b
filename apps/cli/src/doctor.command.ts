/** `echelon doctor`: what this machine has, what is wrong with it, and what to do. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { makeFolder } from '@echelon/embedded-postgres';
import {
  type Config,
  findUnknownVariables,
  type LimitRow,
  listLimits,
  listRetention,
  readConfig,
  VARIABLES,
} from '@echelon/platform/start';
import type { Command } from 'commander';
import { connect, type ConnectionOptions } from './connection.js';
import { CommandError } from './exit-code.js';
import { checkInvariants, describeInvariants } from './invariants.js';
import { isPortTaken, portTaken, serverAddress } from './server-address.js';
import { print, table, type Terminal } from './terminal.js';
import { describeRoots } from './workspace-roots.js';

/** Longer than recovery takes: what a dead process held is free within seconds. */
const RECOVERY_MS = 15_000;

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export function addDoctorCommand(program: Command, terminal: Terminal): void {
  program
    .command('doctor')
    .description('explain what is wrong on this machine')
    .option('--variables', 'list every configuration variable')
    .option('--limits', 'list every limit, and how long things are kept, as this configuration has them')
    .option('--invariants', 'check on the live database of the running server that nothing was lost or doubled')
    .action(async (_options: unknown, command: Command) => {
      const options: ConnectionOptions & { json?: boolean; variables?: boolean; limits?: boolean; invariants?: boolean } =
        command.optsWithGlobals();
      if (options.variables) return printVariables(terminal, options.json);
      if (options.limits) return printLimits(terminal, options.json);
      if (options.invariants) return printInvariants(terminal, options);
      const checks = [...(await examine(readConfig())), ...(await checkRoots(options))];
      print(terminal, options.json, { ok: checks.every(({ ok }) => ok), checks }, () =>
        table(checks.map(({ name, ok, detail }) => [ok ? 'ok' : 'WRONG', name, detail])),
      );
      if (checks.some(({ ok }) => !ok)) throw new CommandError('');
    });
}

function printVariables(terminal: Terminal, json: boolean | undefined): void {
  const variables = VARIABLES.map(({ name, meaning, fallback }) => ({ name, meaning, default: fallback }));
  print(terminal, json, variables, () => table(variables.map((variable) => [variable.name, variable.default, variable.meaning])));
}

function printLimits(terminal: Terminal, json: boolean | undefined): void {
  const config = readConfig();
  const [limits, retention] = [listLimits(config), listRetention(config)];
  print(terminal, json, { limits, retention }, () => [...table([...limits, ...retention].map(limitCells)), 'audit: never deleted']);
}

function limitCells({ name, value, unit, code, variable, meaning }: LimitRow): readonly string[] {
  return [name, `${value} ${unit}`, code ?? '', variable ?? 'fixed', meaning];
}

async function printInvariants(terminal: Terminal, options: ConnectionOptions & { json?: boolean }): Promise<void> {
  const report = await checkInvariants(connect(options).system, RECOVERY_MS);
  print(terminal, options.json, report, () => describeInvariants(report));
  if (!report.ok) throw new CommandError('');
}

async function examine(config: Config): Promise<readonly Check[]> {
  const { describeSandbox } = await import('@echelon/workspace-tools');
  const server = await askServer(config);
  return [
    { name: 'node', ok: true, detail: process.version },
    await checkFolder('data folder', config.dataDir),
    await checkFolder('task folders', config.workspaceRoot),
    server ?? (await checkPort(config)),
    { name: 'database', ok: true, detail: config.databaseUrl ? 'external (DATABASE_URL)' : 'embedded Postgres in the data folder' },
    { name: 'queue', ok: true, detail: config.redisUrl ? 'Redis (REDIS_URL)' : 'Postgres' },
    { name: 'command sandbox', ok: true, detail: (await describeSandbox()).detail },
    ...checkVariables(config),
  ];
}

async function checkFolder(name: string, folder: string): Promise<Check> {
  try {
    makeFolder(folder);
    await access(folder, constants.W_OK);
    return { name, ok: true, detail: folder };
  } catch {
    return { name, ok: false, detail: `${folder} cannot be written: correct its owner, or name another folder` };
  }
}

async function askServer(config: Config): Promise<Check | null> {
  const url = serverAddress(config);
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    const body: unknown = await response.json();
    return { name: 'server', ok: response.ok, detail: `${url}: ${response.ok ? 'ready' : JSON.stringify(body)}` };
  } catch {
    return null;
  }
}

/** What the running server says of the places of task folders; nothing where there is none that answers us. */
async function checkRoots(options: ConnectionOptions): Promise<readonly Check[]> {
  try {
    return describeRoots(await connect(options).system.listWorkspaceRoots());
  } catch {
    return [];
  }
}

async function checkPort({ host, port }: Config): Promise<Check> {
  const taken = await isPortTaken({ host, port });
  return { name: 'port', ok: !taken, detail: taken ? portTaken(port) : `${port} is free; no server runs` };
}

function checkVariables({ env }: Config): readonly Check[] {
  return findUnknownVariables(env).map(({ name, nearest }) => ({
    name: 'variable',
    ok: false,
    detail: `nothing reads ${name}: is ${nearest} meant?`,
  }));
}
