import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';
import { APPLICATION_ROLE, createPool, Database, migrate } from './index.js';

let storage: TestDatabase;
let database: Database;

beforeAll(async () => {
  storage = await createTestDatabase();
  database = new Database(createPool(storage.url, { max: 2 }));
});
afterAll(async () => {
  await database.close();
  await storage.drop();
});

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations');

/** The same database for another login. */
function loggedInAs(url: string, login: string): string {
  const given = new URL(url);
  given.username = login;
  given.password = 'word';
  return given.href;
}

describe('the application’s role [F6]', () => {
  test('is what every connection of a pool works as, and owns nothing', async () => {
    expect(await database.query('SELECT current_user AS name')).toEqual([{ name: APPLICATION_ROLE }]);
    expect(
      await database.query(
        `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname IN ('public', 'bullmq') AND pg_get_userbyid(c.relowner) = current_user`,
      ),
    ).toEqual([]);
  });

  test.each([
    ['drop the trigger that keeps autopilot', 'DROP TRIGGER task_autopilot_immutable ON task'],
    ['disable it', 'ALTER TABLE task DISABLE TRIGGER task_autopilot_immutable'],
    ['switch triggers off for a while', `SET session_replication_role = 'replica'`],
    [
      'replace its function',
      `CREATE OR REPLACE FUNCTION task_autopilot_is_immutable() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
    ],
    ['add a column', 'ALTER TABLE task ADD COLUMN more text'],
    ['drop a table', 'DROP TABLE task CASCADE'],
    ['make a table', 'CREATE TABLE mine (id int)'],
    ['empty the audit', 'TRUNCATE audit'],
    ['mark a migration', `DELETE FROM "_prisma_migrations"`],
  ])('may not %s', async (_what, statement) => {
    await expect(database.query(statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  test('may use what a migration adds', async () => {
    await storage.asOwner('REVOKE ALL ON task FROM echelon_app');
    await expect(database.query('SELECT 1 FROM task')).rejects.toThrow(/permission denied/);
    await migrate(storage.url, MIGRATIONS);
    expect(await database.query('SELECT 1 FROM task')).toEqual([]);
  });

  test('is prepared for a login that may nothing else, by the owner', async () => {
    const login = `login_${process.pid}`;
    await storage.asOwner(`CREATE ROLE ${login} LOGIN PASSWORD 'word'`);
    try {
      await migrate(storage.url, MIGRATIONS, login);
      const unprivileged = new Database(createPool(loggedInAs(storage.url, login), { max: 1 }));
      expect(await unprivileged.query('SELECT session_user AS login, current_user AS role')).toEqual([{ login, role: APPLICATION_ROLE }]);
      await unprivileged.close();
    } finally {
      await storage.asOwner(`DROP ROLE ${login}`);
    }
  });

  test('is asked of an administrator where the login may not make it', async () => {
    const login = `poor_${process.pid}`;
    await storage.asOwner(`CREATE ROLE ${login} LOGIN PASSWORD 'word'`);
    const empty = await createTestDatabase({ empty: true });
    try {
      await empty.asOwner(`GRANT ALL ON SCHEMA public TO ${login}`);
      await expect(migrate(loggedInAs(empty.url, login), MIGRATIONS)).rejects.toMatchObject({
        code: 'role_missing',
        message: expect.stringMatching(new RegExp(`GRANT echelon_app TO ${login}`)),
      });
    } finally {
      await empty.drop();
      await storage.asOwner(`DROP ROLE ${login}`);
    }
  });
});
