import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { StartupError } from './startup-error.js';

/** How to run a Postgres program: behind a prefix, or under another account, or plainly. */
export interface Account {
  readonly prefix: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

const PLAIN: Account = { prefix: [] };
/** Another account must be able to reach its folder below ours; it may not list ours. */
const PASS_THROUGH = 0o011;
const USER_NAMESPACE: Account = { prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000'] };

/**
 * Chooses the account that owns and runs the cluster folder, which may not exist yet, inside the existing `dataDir`.
 *
 * Postgres refuses to run as root. As root we run it as the owner of a folder that is not root's; else in a user namespace,
 * which needs no other account and works below private folders; else as `postgres` or `nobody`.
 */
export function chooseAccount(dataDir: string, cluster: string, postgres: string): Account {
  if (process.getuid?.() !== 0) return PLAIN;
  const chosen = candidates(dataDir, cluster).find((account) => canRun(account, postgres, dataDir));
  if (chosen) return chosen;
  const advice = 'start as an ordinary user, or set DATABASE_URL.';
  throw new StartupError('cannot_run_as_root', `Postgres refuses to run as root, and no other account can work in ${dataDir}: ${advice}`);
}

function candidates(dataDir: string, cluster: string): Account[] {
  const { uid, gid } = statSync(existsSync(cluster) ? cluster : dataDir);
  if (uid !== 0) return [{ prefix: [], uid, gid }];
  return [USER_NAMESPACE, ...['postgres', 'nobody'].flatMap(accountNamed)];
}

function accountNamed(name: string): Account[] {
  const uid = spawnSync('id', ['-u', name], { encoding: 'utf8' });
  const gid = spawnSync('id', ['-g', name], { encoding: 'utf8' });
  if (uid.status !== 0 || gid.status !== 0) return [];
  return [{ prefix: [], uid: Number(uid.stdout), gid: Number(gid.stdout) }];
}

/** Tries to enter the folder and to start the program; another account may be shut out of either. */
function canRun(account: Account, postgres: string, dataDir: string): boolean {
  if (account.uid !== undefined) chmodSync(dataDir, statSync(dataDir).mode | PASS_THROUGH);
  const attempt = ['-c', 'cd "$1" && exec "$2" --version', 'sh', dataDir, postgres];
  const { command, args, options } = commandFor(account, 'sh', attempt);
  return spawnSync(command, args, { ...options, cwd: '/' }).status === 0;
}

export interface Command {
  readonly command: string;
  readonly args: string[];
  readonly options: { readonly uid?: number; readonly gid?: number; readonly env: NodeJS.ProcessEnv };
}

/** The command that runs `program` under `account`, in an environment of nothing but a path, the C locale and UTC. */
export function commandFor(account: Account, program: string, args: readonly string[]): Command {
  const [command = program, ...rest] = [...account.prefix, program, ...args];
  const { uid, gid } = account;
  const identity = uid === undefined || gid === undefined ? {} : { uid, gid };
  return { command, args: rest, options: { ...identity, env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' } } };
}
