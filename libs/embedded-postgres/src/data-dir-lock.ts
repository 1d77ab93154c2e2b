import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from './make-folder.js';
import { StartupError, toStartupError } from './startup-error.js';

export interface DataDirLock {
  release(): void;
}

const SQLITE_BUSY = 5;

/**
 * Creates `dataDir` where missing and makes this process its only user.
 *
 * The lock is the operating system's own, held through an empty SQLite file: it ends with the process, however that ends,
 * so that a lock never has to be judged stale. Throws `StartupError` `data_dir_in_use`, naming the other process, or
 * `no_permission` or `disk_full`.
 */
export function acquireDataDirLock(dataDir: string): DataDirLock {
  const pidFile = path.join(dataDir, 'echelon.pid');
  try {
    makeFolder(dataDir, 0o700);
    const database = lockFile(path.join(dataDir, 'echelon.lock'));
    if (!database) throw inUse(dataDir, pidFile);
    writeFileSync(pidFile, `${process.pid}\n`);
    return { release: () => closeOnce(database) };
  } catch (error) {
    throw toStartupError(error, dataDir);
  }
}

function lockFile(file: string): DatabaseSync | undefined {
  requireWritable(file);
  const database = new DatabaseSync(file);
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/**
 * SQLite does not say why it cannot open a file. One that exists is not opened here: closing a descriptor of it would give up the
 * lock that this process may have on it (POSIX).
 */
function requireWritable(file: string): void {
  if (existsSync(file)) accessSync(file, constants.W_OK);
  else writeFileSync(file, '');
}

function closeOnce(database: DatabaseSync): void {
  if (database.isOpen) database.close();
}

function isBusy(error: unknown): boolean {
  return (error as { readonly errcode?: number }).errcode === SQLITE_BUSY;
}

function inUse(dataDir: string, pidFile: string): StartupError {
  const owner = existsSync(pidFile) ? ` (process ${readFileSync(pidFile, 'utf8').trim()})` : '';
  const advice = 'stop it first, or set ECHELON_DATA_DIR to another folder.';
  return new StartupError('data_dir_in_use', `Another Echelon${owner} uses the data folder ${dataDir}: ${advice}`);
}
