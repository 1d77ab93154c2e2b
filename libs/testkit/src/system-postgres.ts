import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '@echelon/embedded-postgres';

export interface SystemPostgres {
  /** Connection string of the database `postgres`. */
  readonly url: string;
  stop(): Promise<void>;
}

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Where Debian's package keeps its programs, newest version last. */
function findPrograms(): string | undefined {
  const byVersion = (folder: string) => Number.parseFloat(path.basename(path.dirname(folder)));
  return globSync('/usr/lib/postgresql/*/bin')
    .sort((one, other) => byVersion(one) - byVersion(other))
    .at(-1);
}

export function isPostgresInstalled(): boolean {
  return findPrograms() !== undefined;
}

/** Starts a Postgres that is not ours, from Debian's package, on a free port with an empty folder of its own. */
export async function startSystemPostgres(): Promise<SystemPostgres> {
  const programs = findPrograms();
  if (!programs) throw new Error('no Postgres of the system: install the package postgresql');
  const account = chooseAccount();
  const folder = mkdtempSync(path.join(tmpdir(), 'echelon-system-postgres-'));
  const password = initialize(programs, folder, account);
  const port = await findFreePort();
  const flags = ['-D', path.join(folder, 'data'), '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'fsync=off'];
  const server = spawn(path.join(programs, 'postgres'), flags, { ...account, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await untilReady(server);
  const stop = async () => {
    server.kill('SIGINT');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`, stop };
}

/** Postgres refuses to run as root; Debian's package brings an account for it. */
function chooseAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const ask = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: ask('-u'), gid: ask('-g') };
}

function initialize(programs: string, folder: string, account: Account): string {
  const password = randomBytes(12).toString('hex');
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, password);
  if (account.uid !== undefined && account.gid !== undefined) {
    for (const file of [folder, passwordFile]) chownSync(file, account.uid, account.gid);
  }
  const options = [
    '-D',
    path.join(folder, 'data'),
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '-N',
  ];
  const { status, stderr } = spawnSync(path.join(programs, 'initdb'), [...options, '--locale=C'], {
    ...account,
    cwd: '/',
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return password;
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('ready to accept connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`Postgres did not start:\n${said}`)));
  });
}
