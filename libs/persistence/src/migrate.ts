import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { applicationRole, grantSchema, prepareRole, resolveAddress } from './application-role.js';
import { connectAsLogin } from './login-connection.js';
import { MigrationError } from './migration-error.js';
import { takeMigrationLock } from './migration-lock.js';

export { applicationRole } from './application-role.js';
export { MigrationError, type MigrationErrorCode } from './migration-error.js';

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

interface AppliedMigration {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

const OTHER_WRITERS_TIMEOUT = '60s';
const LOCK_TIMEOUT = '3s';
const LOCK_NOT_AVAILABLE = '55P03';
/** A migration of one statement, which Postgres runs outside of any transaction. */
const CONCURRENT_INDEX = /\bINDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?"?(\w+)"?/i;

/**
 * Brings the database at `ownerUrl` to the migrations in `directory`, in the order of their names, and returns those it applied.
 *
 * One program migrates at a time; others wait up to 60 s. Each migration is one transaction together with its mark in
 * Prisma's own table, and waits at most 3 s for a lock, so that a failure leaves neither half a schema nor a mark. One that builds an
 * index CONCURRENTLY is that statement alone, runs beside writers, and may wait 60 s for their transactions.
 * Afterwards the login of `url`, by default the owner itself, may work as the database's application role, which owns nothing.
 * Throws `MigrationError`; a database with migrations that this program does not know is refused untouched.
 */
export async function migrate(ownerUrl: string, directory: string, url: string = ownerUrl): Promise<string[]> {
  refuseOtherDatabase(ownerUrl, url);
  const client = await connectAsLogin(ownerUrl, 'echelon-migrate');
  try {
    await takeMigrationLock(client, 'end');
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    const known = readMigrations(directory);
    const pending = findPending(known, await readApplied(client));
    for (const migration of pending) await apply(client, migration);
    await letWork(client, url);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

function refuseOtherDatabase(ownerUrl: string, url: string): void {
  const [owned, used] = [resolveAddress(ownerUrl).database, resolveAddress(url).database];
  if (owned === used) return;
  const message = `DATABASE_URL names the database "${used}" and ECHELON_MIGRATION_DATABASE_URL "${owned}": both must name the same one.`;
  throw new MigrationError('role_missing', message);
}

async function letWork(client: pg.Client, url: string): Promise<void> {
  const { login } = resolveAddress(url);
  const role = applicationRole(url);
  if (!login)
    throw new MigrationError('role_missing', 'DATABASE_URL names no user, nor does PGUSER: name the login that Echelon works with.');
  try {
    await prepareRole(client, role, login);
    await grantSchema(client, 'public', role);
  } catch (cause) {
    if (cause instanceof MigrationError) throw cause;
    const reason = (cause as Error).message;
    const statements = `CREATE ROLE ${role} NOLOGIN; GRANT ${role} TO ${client.escapeIdentifier(login)}`;
    const message = `The role that Echelon works as cannot be prepared (${reason}): let an administrator run '${statements}', then start again.`;
    throw new MigrationError('role_missing', message, { cause });
  }
}

function readMigrations(directory: string): Migration[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .sort()
    .map((name) => ({ name, file: path.join(directory, name, 'migration.sql') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => {
      const sql = readFileSync(file, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/** The table is Prisma's, column by column, so that its command line agrees with us. */
async function readApplied(client: pg.Client): Promise<AppliedMigration[]> {
  await client.query(`
    CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
      "id" VARCHAR(36) PRIMARY KEY NOT NULL,
      "checksum" VARCHAR(64) NOT NULL,
      "finished_at" TIMESTAMPTZ,
      "migration_name" VARCHAR(255) NOT NULL,
      "logs" TEXT,
      "rolled_back_at" TIMESTAMPTZ,
      "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
      "applied_steps_count" INTEGER NOT NULL DEFAULT 0
    )`);
  const { rows } = await client.query<AppliedMigration>(
    'SELECT migration_name, checksum, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY migration_name',
  );
  return rows;
}

function findPending(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const mark of applied) refuseSurprise(mark, byName.get(mark.migration_name));
  const done = new Set(applied.map((mark) => mark.migration_name));
  return known.filter(({ name }) => !done.has(name));
}

function refuseSurprise(mark: AppliedMigration, known: Migration | undefined): void {
  const name = mark.migration_name;
  if (!known) {
    const advice = 'start that version, or restore the backup made before the upgrade.';
    throw new MigrationError('database_newer', `The database was migrated by a newer version of Echelon (${name}): ${advice}`);
  }
  if (!mark.finished_at) {
    const advice = `inspect the database, then run "npx prisma migrate resolve" with --applied or --rolled-back ${name}.`;
    throw new MigrationError('migration_unfinished', `Another tool began migration ${name} and did not finish it: ${advice}`);
  }
  if (mark.checksum !== known.checksum) {
    const advice = 'restore the file as it was released; changes belong in a new migration.';
    throw new MigrationError('migration_changed', `Migration ${name} differs from the one that was applied: ${advice}`);
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const index = CONCURRENT_INDEX.exec(migration.sql)?.[1];
  try {
    await (index === undefined ? applyAtOnce(client, migration) : applyBesideWriters(client, migration, index));
  } catch (error) {
    throw describeFailure(migration.name, error);
  }
}

async function applyAtOnce(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await mark(client, migration);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** It waits for the transactions that run, and holds nobody up meanwhile. What an attempt that was cut off has left is dropped first. */
async function applyBesideWriters(client: pg.Client, migration: Migration, index: string): Promise<void> {
  await client.query(`SET lock_timeout = '${OTHER_WRITERS_TIMEOUT}'`);
  try {
    await dropUnfinished(client, index);
    await client.query(migration.sql);
    await mark(client, migration);
  } catch (error) {
    await dropUnfinished(client, index).catch(() => undefined);
    throw error;
  } finally {
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`).catch(() => undefined);
  }
}

async function dropUnfinished(client: pg.Client, index: string): Promise<void> {
  const { rows } = await client.query('SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid', [
    `public."${index}"`,
  ]);
  if (rows.length > 0) await client.query(`DROP INDEX CONCURRENTLY "${index}"`);
}

async function mark(client: pg.Client, { name, checksum }: Migration): Promise<void> {
  await client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}

function describeFailure(name: string, cause: unknown): MigrationError {
  const blocked = cause instanceof pg.DatabaseError && cause.code === LOCK_NOT_AVAILABLE;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const advice = blocked
    ? 'other connections hold a table that it changes; wait for them or stop the workers, then start again'
    : 'nothing of it remains; correct the cause and start again';
  return new MigrationError('migration_failed', `Migration ${name} failed (${reason}): ${advice}.`, { cause });
}
