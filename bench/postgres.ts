/** The private Postgres of one run: on disk and durable, as a deployment has it. */
import path from 'node:path';
import { startEmbeddedPostgres } from '@echelon/embedded-postgres';
import pg from 'pg';

export interface BenchPostgres {
  createDatabase(name: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts it with its data below the folder. */
export async function openPostgres(folder: string): Promise<BenchPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'data') });
  return {
    createDatabase: async (name) => {
      const client = new pg.Client(postgres.url());
      await client.connect();
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`).finally(() => client.end());
      return postgres.url(name);
    },
    close: () => postgres.stop(),
  };
}
