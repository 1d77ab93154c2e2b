/** `echelon doctor`: what this machine has, what is wrong with it, and what to do. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { makeFolder } from '@echelon/embedded-postgres';
import { type Config, readConfig, VARIABLES } from '@echelon/platform';
import { describeSandbox } from '@echelon/workspace-tools';
import type { Command } from 'commander';
import { connect, type ConnectionOptions } from './connection.js';
import { CommandError } from './exit-code.js';
import { checkInvariants, describeInvariants } from './invariants.js';
import { print, table, type Terminal } from './terminal.js';

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
    .option('--invariants', 'check on the live database of the running server that nothing was lost or doubled')
    .action(async (_options: unknown, command: Command) => {
      const options: ConnectionOptions & { json?: boolean; variables?: boolean; invariants?: boolean } = command.optsWithGlobals();
      if (options.variables) return printVariables(terminal, options.json);
      if (options.invariants) return printInvariants(terminal, options);
      const checks = await examine(readConfig());
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

async function printInvariants(terminal: Terminal, options: ConnectionOptions & { json?: boolean }): Promise<void> {
  const report = await checkInvariants(connect(options).system, RECOVERY_MS);
  print(terminal, options.json, report, () => describeInvariants(report));
  if (!report.ok) throw new CommandError('');
}

async function examine(config: Config): Promise<readonly Check[]> {
  const server = await askServer(config);
  return [
    { name: 'node', ok: true, detail: process.version },
    await checkFolder('data folder', config.dataDir),
    await checkFolder('task folders', config.workspaceRoot),
    server ?? (await checkPort(config)),
    { name: 'database', ok: true, detail: config.databaseUrl ? 'external (DATABASE_URL)' : 'embedded Postgres in the data folder' },
    { name: 'queue', ok: true, detail: config.redisUrl ? 'Redis (REDIS_URL)' : 'Postgres' },
    { name: 'command sandbox', ok: true, detail: (await describeSandbox()).detail },
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

async function askServer({ host, port }: Config): Promise<Check | null> {
  const url = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    const body: unknown = await response.json();
    return { name: 'server', ok: response.ok, detail: `${url}: ${response.ok ? 'ready' : JSON.stringify(body)}` };
  } catch {
    return null;
  }
}

function checkPort({ host, port }: Config): Promise<Check> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve({ name: 'port', ok: false, detail: `${port} is taken by another program: set ECHELON_PORT` }));
    probe.listen(port, host, () => probe.close(() => resolve({ name: 'port', ok: true, detail: `${port} is free; no server runs` })));
  });
}
