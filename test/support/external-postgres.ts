/** A Postgres that is not ours, for the scaled-out form: the one that ECHELON_TEST_DATABASE_URL names, else Debian's, else the test run's own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestDatabase, findFreePort, type TestDatabase } from '@echelon/testkit';
import pg from 'pg';

export interface ExternalPostgres {
  /** What it is, for the titles of specs. */
  readonly name: string;
  /** Creates a database without any schema of ours. */
  createDatabase(): Promise<TestDatabase>;
  /** Its own `pg_dump` and `pg_restore`; `null` where they are not at hand. */
  readonly binaries: string | null;
  stop(): Promise<void>;
}

export async function openExternalPostgres(): Promise<ExternalPostgres> {
  const given = process.env['ECHELON_TEST_DATABASE_URL'];
  if (given) return onServer('the named Postgres', given, () => Promise.resolve());
  const binaries = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);
  return binaries
    ? startDebian(binaries)
    : { name: 'our Postgres', binaries: null, createDatabase: () => createTestDatabase({ empty: true }), stop: async () => undefined };
}

async function run(url: string, statements: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statements).finally(() => client.end());
}

function onServer(name: string, url: string, stop: () => Promise<void>, binaries: string | null = null): ExternalPostgres {
  let count = 0;
  const createDatabase = async (): Promise<TestDatabase> => {
    const database = `story_${process.pid}_${++count}`;
    await run(url, `CREATE DATABASE ${database}`);
    const own = new URL(url);
    own.pathname = `/${database}`;
    return {
      url: own.href,
      asOwner: (statements) => run(own.href, statements),
      drop: () => run(url, `DROP DATABASE ${database} WITH (FORCE)`),
    };
  };
  return { name, createDatabase, binaries, stop };
}

/** A throw-away cluster of Debian's binaries; root runs it as the account that the package made. */
async function startDebian(binaries: string): Promise<ExternalPostgres> {
  const folder = mkdtempSync(path.join(tmpdir(), 'echelon-debian-'));
  const account = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid);
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' } };
  execFileSync(path.join(binaries, 'initdb'), ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '-N'], {
    ...options,
    stdio: 'pipe',
  });
  const port = await findFreePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', `port=${port}`].flatMap((setting) => [
    '-c',
    setting,
  ]);
  const server = spawn(path.join(binaries, 'postgres'), ['-D', folder, ...settings], { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await untilReady(server);
  const stop = async () => {
    server.kill('SIGINT');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return onServer(`Debian's Postgres ${binaries.split('/').at(-2)}`, `postgresql://postgres@127.0.0.1:${port}/postgres`, stop, binaries);
}

function idOf(kind: '-u' | '-g'): number {
  return Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`Postgres did not start:\n${said}`)));
  });
}
