import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '@echelon/embedded-postgres';
import { migrate } from '@echelon/persistence/migrate';
import pg from 'pg';

/** Where specs find the server's address. */
export const SERVER_VARIABLE = 'ECHELON_TEST_POSTGRES';
export const TEMPLATE = 'echelon_template';

export const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations');

/** Starts the one Postgres of a test run, with a migrated template database; TEST_DATABASE_URL names another server to use. */
export async function startTestServer(): Promise<{ stop(): Promise<void> }> {
  const server = process.env['TEST_DATABASE_URL'] ? borrowed(process.env['TEST_DATABASE_URL']) : await startOwn();
  try {
    process.env[SERVER_VARIABLE] = server.url;
    await createTemplate(server.url);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

interface TestServer {
  readonly url: string;
  stop(): Promise<void>;
}

function borrowed(url: string): TestServer {
  return { url, stop: () => Promise.resolve() };
}

async function startOwn(): Promise<TestServer> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'echelon-test-'));
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false });
  const stop = async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { url: postgres.url(), stop };
}

async function createTemplate(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
    await client.query(`CREATE DATABASE ${TEMPLATE}`);
  } finally {
    await client.end();
  }
  await migrate(databaseUrl(url, TEMPLATE), MIGRATIONS);
}

/** The address of another database on the same server. */
export function databaseUrl(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
