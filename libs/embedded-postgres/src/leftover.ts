import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Account, commandFor } from './account.js';

/**
 * Deals with what a killed program left in the cluster folder; the caller holds the data folder's lock.
 *
 * A Postgres that still runs there belongs to nobody and is stopped. A `postmaster.pid` without any process in the folder is
 * removed, because its number may belong to a stranger by now; while processes remain, Postgres itself judges that file.
 */
export function stopLeftover(folder: string, pgCtl: string, account: Account): void {
  const pidFile = path.join(folder, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  const running = processesIn(folder, pid);
  if (running.includes(pid)) stop(folder, pgCtl, account);
  else if (running.length === 0) rmSync(pidFile, { force: true });
}

function stop(folder: string, pgCtl: string, account: Account): void {
  const stopArguments = ['stop', `--pgdata=${folder}`, '--mode=fast', '--wait', '--timeout=60', '--silent'];
  const { command, args, options } = commandFor(account, pgCtl, stopArguments);
  const result = spawnSync(command, args, { ...options, cwd: '/', encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.error?.message ?? result.stderr);
}

/** Postgres processes work inside their cluster's folder; without /proc the answer is at most the postmaster named. */
function processesIn(folder: string, postmaster: number): number[] {
  if (!existsSync('/proc/self/cwd')) return commandLine(postmaster).includes(folder) ? [postmaster] : [];
  const real = realpathSync(folder);
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && workingFolder(entry) === real)
    .map(Number);
}

function workingFolder(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function commandLine(pid: number): string {
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}
