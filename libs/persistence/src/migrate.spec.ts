import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';
import pg from 'pg';
import { migrate } from './migrate.js';
import { takeMigrationLock } from './migration-lock.js';

let database: TestDatabase;
let directory: string;
const opened: pg.Client[] = [];

beforeEach(async () => {
  database = await createTestDatabase({ empty: true });
  directory = mkdtempSync(path.join(tmpdir(), 'echelon-migrations-'));
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.end()));
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

function write(name: string, sql: string): void {
  mkdirSync(path.join(directory, name), { recursive: true });
  writeFileSync(path.join(directory, name, 'migration.sql'), sql);
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(database.url);
  await client.connect();
  opened.push(client);
  return client;
}

async function tables(): Promise<string[]> {
  const client = await connect();
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename not like '\\_prisma%' order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function marks(): Promise<unknown[]> {
  const client = await connect();
  const sql = 'select migration_name, finished_at is not null as finished from _prisma_migrations order by 1';
  return (await client.query<Record<string, unknown>>(sql)).rows;
}

describe('migrate', () => {
  test('builds an index beside writers, and one that was cut off from the start [O18]', async () => {
    write('1_first', 'create table first (id int)');
    await migrate(database.url, directory);
    const writer = await connect();
    await writer.query('insert into first values (1), (1)');
    await expect(writer.query('create unique index concurrently first_id on first (id)')).rejects.toThrow('could not create unique index');
    write('2_index', '-- One statement.\ncreate index concurrently if not exists "first_id" on "first" ("id");');
    expect(await migrate(database.url, directory)).toEqual(['2_index']);
    const { rows } = await writer.query(`select indisvalid, indisunique from pg_index where indexrelid = 'first_id'::regclass`);
    expect(rows).toEqual([{ indisvalid: true, indisunique: false }]);
    expect(await migrate(database.url, directory)).toEqual([]);
  });

  test('applies what is missing, in the order of names, and a second run applies nothing', async () => {
    write('2_second', 'alter table first add column note text; create table second (id int)');
    write('1_first', 'create table first (id int)');
    expect(await migrate(database.url, directory)).toEqual(['1_first', '2_second']);
    expect(await migrate(database.url, directory)).toEqual([]);
    write('3_third', 'create table third (id int)');
    expect(await migrate(database.url, directory)).toEqual(['3_third']);
    expect(await tables()).toEqual(['first', 'second', 'third']);
  });

  test('lets eight programs start at once: one of them applies each migration', async () => {
    write('1_first', 'create table first (id int)');
    write('2_index', 'create index concurrently if not exists "first_id" on "first" ("id")');
    const results = await Promise.all(Array.from({ length: 8 }, () => migrate(database.url, directory)));
    expect(results.flat()).toEqual(['1_first', '2_index']);
  });

  test('whoever waits for another migration too long is told so in one sentence', async () => {
    const [holder, waiting] = [await connect(), await connect()];
    await takeMigrationLock(holder, 'end');
    await expect(takeMigrationLock(waiting, 'end', 0)).rejects.toMatchObject({
      code: 'migration_running',
      message: expect.stringMatching(/^Another program migrates this database/),
    });
  });

  test('undoes a migration that fails half-way, keeps those before it, and can be started again [O12]', async () => {
    write('1_first', 'create table first (id int)');
    write('2_second', 'create table second (id int); insert into nowhere values (1)');
    await expect(migrate(database.url, directory)).rejects.toMatchObject({
      code: 'migration_failed',
      message: 'Migration 2_second failed (relation "nowhere" does not exist): nothing of it remains; correct the cause and start again.',
    });
    expect(await tables()).toEqual(['first']);
    expect(await marks()).toEqual([{ migration_name: '1_first', finished: true }]);

    write('2_second', 'create table second (id int)');
    expect(await migrate(database.url, directory)).toEqual(['2_second']);
  });

  test('gives up on a table that somebody holds, and says so [O11]', async () => {
    write('1_first', 'create table first (id int)');
    await migrate(database.url, directory);
    const holder = await connect();
    await holder.query('begin; lock table first');
    write('2_second', 'alter table first add column note text');
    await expect(migrate(database.url, directory)).rejects.toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('other connections hold a table that it changes'),
    });
    await holder.query('rollback');
    expect(await migrate(database.url, directory)).toEqual(['2_second']);
  });

  test('refuses a database newer than the program, untouched', async () => {
    write('1_first', 'create table first (id int)');
    write('9_future', 'create table future (id int)');
    await migrate(database.url, directory);
    rmSync(path.join(directory, '9_future'), { recursive: true });
    write('2_second', 'create table second (id int)');
    await expect(migrate(database.url, directory)).rejects.toMatchObject({
      code: 'database_newer',
      message:
        'The database was migrated by a newer version of Echelon (9_future): start that version, or restore the backup made before the upgrade.',
    });
    expect(await tables()).toEqual(['first', 'future']);
  });

  test('refuses a migration that changed after it was applied', async () => {
    write('1_first', 'create table first (id int)');
    await migrate(database.url, directory);
    write('1_first', 'create table first (id bigint)');
    await expect(migrate(database.url, directory)).rejects.toMatchObject({ code: 'migration_changed' });
  });

  test('refuses to go on where another tool stopped half-way', async () => {
    write('1_first', 'create table first (id int)');
    await migrate(database.url, directory);
    await (await connect()).query('update _prisma_migrations set finished_at = null');
    await expect(migrate(database.url, directory)).rejects.toMatchObject({ code: 'migration_unfinished' });
  });

  test('a server that nobody answers at is named in one sentence, without the password', async () => {
    const failure = migrate('postgresql://someone:secret-word@localhost:1/echelon', directory);
    await expect(failure).rejects.toMatchObject({
      code: 'database_unreachable',
      message: expect.stringMatching(/^The database lets nobody in \(connect ECONNREFUSED [^)]+\): (?!.*secret-word).*DATABASE_URL/),
    });
  });
});
