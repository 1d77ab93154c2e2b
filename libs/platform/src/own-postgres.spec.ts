import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { applicationRole } from '@echelon/persistence';
import { createTestDatabase, type TestDatabase, waitFor } from '@echelon/testkit';
import { readConfig } from './config.js';
import { createPlatform } from './platform.js';

const OWNER = `owner_${process.pid}`;
const PLAIN = `plain_${process.pid}`;

/** Any other database of the server: logins are the server's, and outlive the database in which they own something. */
let server: TestDatabase;
let storage: TestDatabase;
let folder: string;

/** Logins of a server that is not ours, with the rights that the README asks for and no others. */
beforeAll(async () => {
  server = await createTestDatabase({ empty: true });
  await server.asOwner(`CREATE ROLE ${OWNER} LOGIN CREATEROLE PASSWORD 'word'; CREATE ROLE ${PLAIN} LOGIN PASSWORD 'word'`);
});

afterAll(async () => {
  await server.asOwner(`DROP ROLE ${PLAIN}; DROP ROLE ${OWNER}`);
  await server.drop();
});

beforeEach(async () => {
  storage = await createTestDatabase({ empty: true });
  folder = mkdtempSync(path.join(tmpdir(), 'echelon-own-postgres-'));
  await storage.asOwner(`
    GRANT CREATE ON SCHEMA public TO ${OWNER};
    DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO ${OWNER}', current_database()); END $$`);
});

afterEach(async () => {
  await storage.drop();
  rmSync(folder, { recursive: true, force: true });
});

function loggedInAs(login: string): string {
  const given = new URL(storage.url);
  given.username = login;
  given.password = 'word';
  return given.href;
}

test.each([
  ['one login, which owns the tables', { DATABASE_URL: () => loggedInAs(OWNER) }],
  [
    'a plain login beside the owner',
    { DATABASE_URL: () => loggedInAs(PLAIN), ECHELON_MIGRATION_DATABASE_URL: loggedInAs.bind(null, OWNER) },
  ],
])('server and worker start, and start again, with the rights that the README names: %s', async (_what, addresses) => {
  const variables = Object.fromEntries(Object.entries(addresses).map(([name, address]) => [name, address()]));
  const config = readConfig({ ...variables, ECHELON_DATA_DIR: folder, ECHELON_LOG_LEVEL: 'silent' });
  for (const start of ['first', 'second']) {
    const platform = await createPlatform(config, { worker: true });
    try {
      await waitFor(`the queue is fetched from after the ${start} start`, () => platform.worker?.fetchedRecently() === true);
      expect(await platform.database.query('SELECT current_user AS role FROM setting LIMIT 1')).toEqual([
        { role: applicationRole(storage.url) },
      ]);
    } finally {
      await platform.close();
    }
  }
});

test('what the role lacks in the queue’s schema is given back at the next start', async () => {
  const config = readConfig({ DATABASE_URL: storage.url, ECHELON_DATA_DIR: folder, ECHELON_LOG_LEVEL: 'silent' });
  const role = applicationRole(storage.url);
  const start = async (): Promise<void> => {
    const platform = await createPlatform(config, { worker: true });
    try {
      await waitFor('the queue is fetched from', () => platform.worker?.fetchedRecently() === true);
      expect(await platform.database.query(LACKING, [role])).toEqual([]);
    } finally {
      await platform.close();
    }
  };
  await start();
  await storage.asOwner(`REVOKE INSERT, DELETE ON ALL TABLES IN SCHEMA bullmq FROM ${role}`);
  await start();
});

const LACKING = `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'bullmq'::regnamespace AND c.relkind IN ('r', 'p')
  AND NOT (has_table_privilege($1, c.oid, 'INSERT') AND has_table_privilege($1, c.oid, 'DELETE'))`;
