import { randomBytes } from 'node:crypto';
import { applicationRole, migrate } from '@echelon/persistence/migrate';
import pg from 'pg';
import { databaseUrl, MIGRATIONS, SERVER_VARIABLE, TEMPLATE } from './test-server.js';

export interface TestDatabase {
  readonly url: string;
  /** Runs statements as the owner of the tables, which the application is not. */
  asOwner(statements: string): Promise<void>;
  /** Disconnects everyone and deletes the database. */
  drop(): Promise<void>;
}

/** Creates a database of one spec's own: our migrated schema, or nothing at all with `empty`. */
export async function createTestDatabase({ empty = false }: { readonly empty?: boolean } = {}): Promise<TestDatabase> {
  const server = process.env[SERVER_VARIABLE];
  if (!server) throw new Error('no test server: run specs through jest.config.mjs');
  const name = `spec_${randomBytes(6).toString('hex')}`;
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE ${empty ? 'template0' : TEMPLATE}`);
  const url = databaseUrl(server, name);
  // The copy has the template's tables; the role is each database's own.
  if (!empty) await migrate(url, MIGRATIONS);
  const drop = async (): Promise<void> => {
    await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    await onServer(server, `DROP ROLE IF EXISTS ${applicationRole(url)}`);
  };
  return { url, asOwner: (statements) => onServer(url, statements), drop };
}

async function onServer(url: string, statements: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}
