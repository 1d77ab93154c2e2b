import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';
import pg from 'pg';
import { applicationRole, createPool, Database, grantSchema, migrate } from './index.js';

let storage: TestDatabase;
let database: Database;
let role: string;

beforeAll(async () => {
  storage = await createTestDatabase();
  role = applicationRole(storage.url);
  database = new Database(createPool(storage.url, { max: 2 }));
});
afterAll(async () => {
  await database.close();
  await storage.drop();
});

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations');

/** Every table of the schema, and what the role may do: S(elect), I(nsert), U(pdate), D(elete). A new table is added here. */
const PRIVILEGES = {
  _prisma_migrations: 'S',
  agent_profile: 'SIUD',
  api_token: 'SIUD',
  approval: 'SIUD',
  artifact: 'SIUD',
  audit: 'SI',
  event: 'SIUD',
  idempotency_record: 'SIUD',
  message: 'SIUD',
  model_request: 'SIUD',
  operator: 'SIUD',
  operator_notification: 'SIUD',
  outbox: 'SIUD',
  queue_entry: 'SIUD',
  session: 'SIUD',
  setting: 'SIUD',
  task: 'SIUD',
  task_dependency: 'SIUD',
  task_folder: 'SIUD',
  task_plan: 'SIUD',
  task_plan_write: 'SID',
  tool_call: 'SIUD',
  tool_list: 'SI',
  turn: 'SIUD',
  worker: 'SIUD',
  workflow: 'SIUD',
  workflow_step: 'SIUD',
  workspace: 'SIUD',
  workspace_grant: 'SIUD',
  workspace_root: 'SIUD',
};

/** The same database for another login. */
function loggedInAs(url: string, login: string): string {
  const given = new URL(url);
  given.username = login;
  given.password = 'word';
  return given.href;
}

describe('the application’s role [F6]', () => {
  test('is what every connection of a pool works as, and owns nothing [O3]', async () => {
    expect(await database.query('SELECT current_user AS name')).toEqual([{ name: role }]);
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
    ['rewrite the audit', `UPDATE audit SET actor = 'nobody'`],
    ['shorten the audit', 'DELETE FROM audit'],
    ['mark a migration', `DELETE FROM "_prisma_migrations"`],
  ])('may not %s', async (_what, statement) => {
    await expect(database.query(statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  test('may do exactly what this table says', async () => {
    const held = await database.query<{ name: string; privileges: string }>(
      `SELECT c.relname AS name, string_agg(left(a.privilege_type, 1), '' ORDER BY strpos('SIUD', left(a.privilege_type, 1))) AS privileges
       FROM pg_class c LEFT JOIN LATERAL aclexplode(c.relacl) a ON a.grantee = current_user::regrole
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') GROUP BY c.relname ORDER BY c.relname`,
    );
    expect(Object.fromEntries(held.map(({ name, privileges }) => [name, privileges]))).toEqual(PRIVILEGES);
  });

  test.each([
    ['REVOKE ALL ON task FROM', 'SELECT 1 FROM task WHERE false'],
    ['REVOKE INSERT ON task FROM', `INSERT INTO task SELECT * FROM task WHERE false`],
    ['REVOKE DELETE ON outbox FROM', 'DELETE FROM outbox WHERE false'],
    ['REVOKE UPDATE ON SEQUENCE event_position FROM', `SELECT setval('event_position', 1, false)`],
  ])('is given back what it lacks: %s', async (revoke, statement) => {
    await storage.asOwner(`${revoke} ${role}`);
    await expect(database.query(statement)).rejects.toThrow(/permission denied/);
    await migrate(storage.url, MIGRATIONS);
    expect(await database.query(statement)).toBeDefined();
  });

  test('loses what it may not have', async () => {
    await storage.asOwner(`GRANT ALL ON audit, task TO ${role}`);
    await database.query('UPDATE audit SET actor = actor WHERE false');
    await migrate(storage.url, MIGRATIONS);
    await expect(database.query('UPDATE audit SET actor = actor WHERE false')).rejects.toThrow(/permission denied/);
    await expect(database.query('TRUNCATE task CASCADE')).rejects.toThrow(/permission denied/);
  });

  test('is granted one schema after another by many connections at once', async () => {
    await storage.asOwner(`CREATE SCHEMA bullmq; CREATE TABLE bullmq.job (id int); REVOKE ALL ON task, turn, message FROM ${role}`);
    const grant = async (schema: string): Promise<void> => {
      const client = new pg.Client(storage.url);
      await client.connect();
      await grantSchema(client, schema, role).finally(() => client.end());
    };
    await Promise.all([1, 2, 3, 4].flatMap(() => [grant('bullmq'), grant('public'), migrate(storage.url, MIGRATIONS)]));
    expect(await database.query('SELECT FROM bullmq.job, task, turn, message')).toEqual([]);
  });

  test('of another database of the server may do nothing here, and the other way round', async () => {
    const login = `neighbour_${process.pid}`;
    const other = await createTestDatabase();
    await storage.asOwner(`CREATE ROLE ${login} LOGIN PASSWORD 'word'`);
    try {
      await migrate(other.url, MIGRATIONS, loggedInAs(other.url, login));
      const here = new pg.Client(loggedInAs(storage.url, login));
      await here.connect();
      await here.query(`SET ROLE ${applicationRole(other.url)}`);
      await expect(here.query('SELECT 1 FROM task')).rejects.toThrow(/permission denied/);
      await expect(here.query(`SET ROLE ${role}`)).rejects.toThrow(/permission denied/);
      await here.end();
    } finally {
      await other.drop();
      await storage.asOwner(`DROP ROLE ${login}`);
    }
  });

  test('of an earlier version, which all databases shared, keeps its grants beside it: old processes may still run', async () => {
    const former = 'echelon_app';
    await storage.asOwner(`DO $$ BEGIN CREATE ROLE ${former} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${former}; REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`);
    await migrate(storage.url, MIGRATIONS);
    expect(
      await database.query(`SELECT current_user AS name, has_table_privilege('${former}', 'task', 'UPDATE') AS old FROM setting LIMIT 1`),
    ).toEqual([{ name: role, old: true }]);
    await storage.asOwner(`DROP OWNED BY ${former}; DROP ROLE ${former}`);
    expect(await database.query('SELECT 1 FROM task')).toEqual([]);
  });

  test('is prepared for a login that may nothing else, by the owner', async () => {
    const login = `login_${process.pid}`;
    await storage.asOwner(`CREATE ROLE ${login} LOGIN PASSWORD 'word'`);
    try {
      await migrate(storage.url, MIGRATIONS, loggedInAs(storage.url, login));
      const unprivileged = new Database(createPool(loggedInAs(storage.url, login), { max: 1 }));
      expect(await unprivileged.query('SELECT session_user AS login, current_user AS role')).toEqual([{ login, role }]);
      await unprivileged.close();
    } finally {
      await storage.asOwner(`DROP ROLE ${login}`);
    }
  });

  test('is asked of an administrator where the login may not make it, and then is enough', async () => {
    const login = `poor_${process.pid}`;
    await storage.asOwner(`CREATE ROLE ${login} LOGIN PASSWORD 'word'`);
    const empty = await createTestDatabase({ empty: true });
    const url = loggedInAs(empty.url, login);
    const statements = `CREATE ROLE ${applicationRole(url)} NOLOGIN; GRANT ${applicationRole(url)} TO "${login}"`;
    try {
      await empty.asOwner(`GRANT ALL ON SCHEMA public TO ${login}`);
      await expect(migrate(url, MIGRATIONS)).rejects.toMatchObject({ code: 'role_missing', message: expect.stringContaining(statements) });
      await empty.asOwner(statements);
      await migrate(url, MIGRATIONS);
      const poor = new Database(createPool(url, { max: 1 }));
      expect(await poor.query('SELECT current_user AS role, session_user AS login FROM setting LIMIT 1')).toEqual([
        { role: applicationRole(url), login },
      ]);
      await poor.close();
    } finally {
      await empty.drop();
      await storage.asOwner(`DROP ROLE ${login}`);
    }
  });

  test('is given to a login that may create roles without being a superuser, and a start that broke off half-way is made good', async () => {
    const login = `maker_${process.pid}`;
    await storage.asOwner(`CREATE ROLE ${login} LOGIN CREATEROLE PASSWORD 'word'`);
    const empty = await createTestDatabase({ empty: true });
    const url = loggedInAs(empty.url, login);
    try {
      await empty.asOwner(`GRANT ALL ON SCHEMA public TO ${login}`);
      const half = new pg.Client(url);
      await half.connect();
      await half.query(`CREATE ROLE ${applicationRole(url)} NOLOGIN`);
      await half.end();
      await migrate(url, MIGRATIONS);
      const maker = new Database(createPool(url, { max: 1 }));
      expect(await maker.query('SELECT current_user AS role FROM setting LIMIT 1')).toEqual([{ role: applicationRole(url) }]);
      await maker.close();
    } finally {
      await empty.drop();
      await storage.asOwner(`DROP ROLE ${login}`);
    }
  });
});

describe('the name of the role', () => {
  const named = (database: string): string => applicationRole(`postgres://ada@host/${encodeURIComponent(database)}`);

  test('says the database where that needs no quotes, and is the owner’s and the login’s alike', () => {
    expect(named('echelon')).toBe('echelon_app_echelon');
    expect(applicationRole('postgres://bob:word@other:5433/echelon?sslmode=disable')).toBe('echelon_app_echelon');
  });

  test.each(['My Deployment', 'ab-c', 'ab"c', `x${'y'.repeat(60)}`, 'データベース'])('is plain, short and its own for %s', (name) => {
    expect(named(name)).toMatch(/^echelon_app_[a-z0-9_]+$/);
    expect(named(name).length).toBeLessThanOrEqual(63);
    expect(named(name)).not.toBe(named(`${name}z`));
  });

  test('is another for names that read alike', () => {
    expect(new Set(['ab-c', 'ab_c', 'AB-c', 'ab+c'].map(named)).size).toBe(4);
  });
});

test('a database with any name works', async () => {
  const name = `Spec "${process.pid}" -c é`;
  const given = new URL(storage.url);
  given.pathname = `/${encodeURIComponent(name)}`;
  const quoted = `"${name.replaceAll('"', '""')}"`;
  await storage.asOwner(`CREATE DATABASE ${quoted}`);
  try {
    await migrate(given.href, MIGRATIONS);
    const odd = new Database(createPool(given.href, { max: 1 }));
    expect(await odd.query('SELECT current_user AS role, current_database() AS name FROM setting LIMIT 1')).toEqual([
      { role: applicationRole(given.href), name },
    ]);
    await odd.close();
  } finally {
    await storage.asOwner(`DROP DATABASE ${quoted}`);
    await storage.asOwner(`DROP ROLE IF EXISTS ${applicationRole(given.href)}`);
  }
});

describe('two addresses', () => {
  test('must name the same database', async () => {
    const other = new URL(storage.url);
    other.pathname = '/elsewhere';
    await expect(migrate(storage.url, MIGRATIONS, other.href)).rejects.toMatchObject({
      code: 'role_missing',
      message: expect.stringMatching(/^DATABASE_URL names the database "elsewhere" and ECHELON_MIGRATION_DATABASE_URL "spec_/),
    });
  });
});
