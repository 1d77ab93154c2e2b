import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { databaseUrl, SERVER_VARIABLE, TEMPLATE } from './test-server.js';

export interface TestDatabase {
  readonly url: string;
  /** Disconnects everyone and deletes the database. */
  drop(): Promise<void>;
}

/** Creates a database of one spec's own: our migrated schema, or nothing at all with `empty`. */
export async function createTestDatabase({ empty = false }: { readonly empty?: boolean } = {}): Promise<TestDatabase> {
  const server = process.env[SERVER_VARIABLE];
  if (!server) throw new Error('no test server: run specs through jest.config.mjs');
  const name = `spec_${randomBytes(6).toString('hex')}`;
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE ${empty ? 'template0' : TEMPLATE}`);
  return { url: databaseUrl(server, name), drop: () => onServer(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
