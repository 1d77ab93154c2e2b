import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Account, commandFor } from './account.js';
import type { PostgresBinaries } from './binaries.js';
import { StartupError } from './startup-error.js';

export interface Cluster {
  /** Postgres's own data directory. */
  readonly folder: string;
  readonly password: string;
}

interface ClusterPlace {
  readonly dataDir: string;
  readonly binaries: PostgresBinaries;
  readonly account: Account;
  readonly durable: boolean;
}

export const clusterFolder = (dataDir: string): string => path.join(dataDir, 'postgres');

/** Secrets stand in one folder, which commands of agents do not see; others may pass through it, and read nothing in it. */
const keysFolder = (dataDir: string): string => path.join(dataDir, 'keys');

const passwordFile = (dataDir: string): string => path.join(keysFolder(dataDir), 'postgres-password');

/** Opens the cluster in `dataDir`, or creates it; a creation that was cut short is started afresh. */
export function openCluster(place: ClusterPlace): Cluster {
  const folder = clusterFolder(place.dataDir);
  if (!existsSync(folder)) createCluster(place, folder);
  refuseOtherVersion(folder, place.binaries.major);
  return { folder, password: readPassword(place.dataDir) };
}

function createCluster({ dataDir, binaries, account, durable }: ClusterPlace, folder: string): void {
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writePassword(dataDir, account);
  giveTo(account, draft);
  const { command, args, options } = commandFor(account, binaries.initdb, initdbArguments(draft, passwordFile(dataDir), durable));
  const result = spawnSync(command, args, { ...options, cwd: '/', encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.error?.message ?? result.stderr);
  renameSync(draft, folder);
}

function initdbArguments(folder: string, pwfile: string, durable: boolean): string[] {
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${pwfile}`];
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  return [`--pgdata=${folder}`, ...access, ...locale, '--no-instructions', ...(durable ? [] : ['--no-sync'])];
}

function writePassword(dataDir: string, account: Account): void {
  const file = passwordFile(dataDir);
  mkdirSync(keysFolder(dataDir), { recursive: true, mode: 0o711 });
  rmSync(file, { force: true });
  writeFileSync(file, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  giveTo(account, file);
}

function giveTo({ uid, gid }: Account, file: string): void {
  if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
}

function refuseOtherVersion(folder: string, major: string): void {
  const found = readFileSync(path.join(folder, 'PG_VERSION'), 'utf8').trim();
  if (found === major) return;
  const message = `${folder} holds data of Postgres ${found}, but this program brings Postgres ${major}: start it with the program that wrote it.`;
  throw new StartupError('version_mismatch', message);
}

function readPassword(dataDir: string): string {
  const file = passwordFile(dataDir);
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  throw new StartupError(
    'password_missing',
    `${file} is missing, and without it the database beside it cannot be opened: restore that file.`,
  );
}
