/** Where the truth lives: the embedded Postgres of the data folder, or the one that DATABASE_URL names; migrated before use. */
import path from 'node:path';
import { type EmbeddedPostgres, makeFolder, startEmbeddedPostgres, StartupError } from '@echelon/embedded-postgres';
import { ensureDatabase } from '@echelon/persistence/ensure-database';
import { migrate, MigrationError } from '@echelon/persistence/migrate';
import type { Config } from './config.js';

export interface Storage {
  readonly url: string;
  /** Of who owns the tables: for migrations and nothing else. */
  readonly ownerUrl: string;
  /** Resolves when the embedded Postgres is gone; one that is not ours comes and goes by itself. */
  readonly gone: Promise<void>;
  close(): Promise<void>;
}

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations');
const DATABASE = 'echelon';
/** An address's own options would replace those that make a connection work as the application's role. */
const OPTIONS_GIVEN = 'DATABASE_URL may not carry "options": Echelon sets its own for each connection.';

/** Opens the storage. Throws `StartupError` or `MigrationError`, each one sentence for the person at the terminal. */
export async function openStorage(config: Pick<Config, 'databaseUrl' | 'migrationDatabaseUrl' | 'dataDir'>): Promise<Storage> {
  if (config.databaseUrl) return openExternal(config.databaseUrl, config.migrationDatabaseUrl);
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir });
  try {
    return await prepare(postgres);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

async function openExternal(url: string, migrationUrl: string | null): Promise<Storage> {
  const ownerUrl = migrationUrl ?? url;
  if (new URL(url).searchParams.has('options')) throw new MigrationError('role_missing', OPTIONS_GIVEN);
  await migrate(ownerUrl, MIGRATIONS, decodeURIComponent(new URL(url).username) || undefined);
  return { url, ownerUrl, gone: new Promise(() => undefined), close: () => Promise.resolve() };
}

async function prepare(postgres: EmbeddedPostgres): Promise<Storage> {
  await ensureDatabase(postgres.url(), DATABASE);
  const url = postgres.url(DATABASE);
  await migrate(url, MIGRATIONS);
  return { url, ownerUrl: url, gone: postgres.exited, close: () => postgres.stop() };
}

/** Makes the folder that holds the task folders, before the first turn needs it. Throws `StartupError`. */
export function openWorkspaceRoot({ workspaceRoot }: Pick<Config, 'workspaceRoot'>): void {
  try {
    makeFolder(workspaceRoot);
  } catch (cause) {
    const message = `This account may not write to ${workspaceRoot}: correct its owner, or set ECHELON_WORKSPACE_ROOT to another folder.`;
    throw new StartupError('no_permission', message, { cause });
  }
}
