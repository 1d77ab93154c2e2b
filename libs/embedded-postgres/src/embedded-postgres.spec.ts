import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Program, startScript, waitFor } from '@echelon/testkit';
import pg from 'pg';
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from './index.js';

let parent: string;
let dataDir: string;

beforeAll(async () => {
  parent = mkdtempSync(path.join(tmpdir(), 'echelon-embedded-'));
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(parent, 'seed'), durable: false });
  await postgres.stop();
});

beforeEach(() => {
  dataDir = path.join(parent, randomUUID());
});

afterAll(() => {
  rmSync(parent, { recursive: true, force: true });
});

/** Makes the data folder a copy of one that was started and stopped before, which is quicker than another first start. */
function plantCluster(): void {
  execFileSync('cp', ['-a', path.join(parent, 'seed'), dataDir]);
}

const start = (options: Partial<EmbeddedPostgresOptions> = {}) => startEmbeddedPostgres({ dataDir, durable: false, ...options });

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A program that holds the data folder and prints the address and process of its Postgres. */
function startHolder(): Program {
  const source = `
    import { startEmbeddedPostgres } from '@echelon/embedded-postgres';
    try {
      const postgres = await startEmbeddedPostgres({ dataDir: process.argv[1] });
      console.log('ready', postgres.url(), postgres.pid);
    } catch (error) {
      console.log('refused', error.code, error.message);
    }`;
  return startScript(source, { args: [dataDir] });
}

async function ready(holder: Program): Promise<{ url: string; pid: number }> {
  const [, url = '', pid = ''] = (await holder.line(/^ready/)).split(' ');
  return { url, pid: Number(pid) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a start', () => {
  test('creates Postgres 18 in UTF-8 and UTC, on the loopback address only, and a second start finds the same data', async () => {
    const first = await start({ settings: { work_mem: '5MB' } });
    await query(first.url(), 'create table kept as select 42 as answer');
    const [facts] = await query(
      first.url(),
      `select current_setting('server_encoding') encoding, current_setting('TimeZone') zone, current_setting('work_mem') work_mem,
              current_setting('listen_addresses') address, current_setting('server_version_num')::int / 10000 major`,
    );
    expect(facts).toEqual({ encoding: 'UTF8', zone: 'UTC', work_mem: '5MB', address: '127.0.0.1', major: 18 });
    await first.stop();
    await first.stop();

    const second = await start();
    expect(await query(second.url(), 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
  });

  test('keeps a generated password for the owner alone, and the server asks for it', async () => {
    plantCluster();
    const postgres = await start();
    expect(statSync(path.join(dataDir, 'keys', 'postgres-password')).mode & 0o777).toBe(0o600);
    const guessed = new URL(postgres.url());
    guessed.password = 'postgres';
    await expect(query(guessed.href, 'select 1')).rejects.toThrow('password authentication failed');
    await postgres.stop();
  });

  test('uses the port asked for, and names the trouble when it is taken', async () => {
    plantCluster();
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
    });
    await expect(start({ port })).rejects.toMatchObject({ code: 'port_in_use' });
    await new Promise((resolve) => taken.close(resolve));

    const postgres = await start({ port });
    expect(postgres.port).toBe(port);
    await postgres.stop();
  });
});

describe('a refusal leaves the data folder as it was', () => {
  test('when it holds another major version of Postgres', async () => {
    plantCluster();
    const versionFile = path.join(dataDir, 'postgres', 'PG_VERSION');
    writeFileSync(versionFile, '17\n');
    await expect(start()).rejects.toMatchObject({
      code: 'version_mismatch',
      message: expect.stringMatching(/^\S+ holds data of Postgres 17, but this program brings Postgres 18: .+\.$/),
    });
    expect(readFileSync(versionFile, 'utf8')).toBe('17\n');
  });

  test('when its password is gone', async () => {
    plantCluster();
    rmSync(path.join(dataDir, 'keys', 'postgres-password'));
    await expect(start()).rejects.toMatchObject({ code: 'password_missing' });
  });

  test('when a living instance uses it, naming that process', async () => {
    plantCluster();
    const holder = startHolder();
    const { url } = await ready(holder);
    const second = startHolder();
    expect(await second.line(/^refused/)).toContain(`refused data_dir_in_use Another Echelon (process ${holder.pid}) uses the data folder`);
    expect(await query(url, 'select 1 as alive')).toEqual([{ alive: 1 }]);
    await holder.kill();
  });
});

describe('after kill -9', () => {
  test('Postgres stops by itself, and the next start finds every committed row', async () => {
    plantCluster();
    const holder = startHolder();
    const { url, pid } = await ready(holder);
    await query(url, 'create table kept as select 42 as answer');
    await holder.kill();
    await waitFor('the guard has stopped Postgres', () => !isAlive(pid));

    const next = await start();
    expect(await query(next.url(), 'select answer from kept')).toEqual([{ answer: 42 }]);
    await next.stop();
  });

  test('a Postgres that has not stopped yet is stopped by the next start, which takes the folder over', async () => {
    plantCluster();
    const holder = startHolder();
    const { url, pid } = await ready(holder);
    await query(url, 'create table kept as select 42 as answer');
    process.kill(pid, 'SIGSTOP');
    await holder.kill();
    process.kill(pid, 'SIGCONT');

    const next = await start();
    expect(await query(next.url(), 'select answer from kept')).toEqual([{ answer: 42 }]);
    await waitFor('the orphan is gone', () => !isAlive(pid));
    await next.stop();
  });

  test('a pid file whose number belongs to a stranger is not believed', async () => {
    plantCluster();
    writeFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), `${process.pid}\n${dataDir}/postgres\n`);
    const next = await start();
    expect(next.pid).not.toBe(process.pid);
    await next.stop();
  });
});
