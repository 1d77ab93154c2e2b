/** Where the truth lives: the embedded Postgres of the data folder, or the one that DATABASE_URL names; migrated before use. */
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@echelon/embedded-postgres';
import { type DeploymentLock, joinDeployment, takeDeployment } from '@echelon/persistence/deployment-lock';
import { ensureDatabase } from '@echelon/persistence/ensure-database';
import { migrate, MigrationError } from '@echelon/persistence/migrate';
import type { Config } from './config.js';

export interface Storage {
  readonly url: string;
  /** Of who owns the tables: for migrations and nothing else. */
  readonly ownerUrl: string;
  /** Resolves when the embedded Postgres is gone; one that is not ours comes and goes by itself. */
  readonly gone: Promise<void>;
  /** Throws `MigrationError` unless it was opened alone and is so still. */
  assertAlone(): Promise<void>;
  close(): Promise<void>;
}

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations');
const DATABASE = 'echelon';
/** An address's own options would replace those that make a connection work as the application's role. */
const OPTIONS_GIVEN = 'DATABASE_URL may not carry "options": Echelon sets its own for each connection.';

export interface StorageOptions {
  /** Nobody else of ours may work on it meanwhile: for a restore. */
  readonly alone?: boolean;
}

/**
 * Opens the storage, and keeps a restore away from it until it is closed; with `alone`, everybody else.
 * Throws `StartupError` or `MigrationError`, each one sentence for the person at the terminal.
 */
export async function openStorage(
  config: Pick<Config, 'databaseUrl' | 'migrationDatabaseUrl' | 'dataDir'>,
  options: StorageOptions = {},
): Promise<Storage> {
  if (config.databaseUrl) return openExternal(config.databaseUrl, config.migrationDatabaseUrl, options);
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir });
  try {
    return await openEmbedded(postgres, options);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

async function openExternal(url: string, migrationUrl: string | null, options: StorageOptions): Promise<Storage> {
  const ownerUrl = migrationUrl ?? url;
  if (new URL(url).searchParams.has('options')) throw new MigrationError('role_missing', OPTIONS_GIVEN);
  const lock = await lockAndMigrate({ url, ownerUrl }, options);
  return { url, ownerUrl, gone: new Promise(() => undefined), assertAlone: () => lock.assertAlone(), close: () => lock.release() };
}

async function openEmbedded(postgres: EmbeddedPostgres, options: StorageOptions): Promise<Storage> {
  await ensureDatabase(postgres.url(), DATABASE);
  const url = postgres.url(DATABASE);
  const lock = await lockAndMigrate({ url, ownerUrl: url }, options);
  const close = async (): Promise<void> => {
    await lock.release();
    await postgres.stop();
  };
  return { url, ownerUrl: url, gone: postgres.exited, assertAlone: () => lock.assertAlone(), close };
}

/** Nothing is migrated under a restore, and nothing restored under a process that works. */
async function lockAndMigrate({ url, ownerUrl }: Pick<Storage, 'url' | 'ownerUrl'>, { alone }: StorageOptions): Promise<DeploymentLock> {
  const lock = await (alone ? takeDeployment(url) : joinDeployment(url));
  try {
    await migrate(ownerUrl, MIGRATIONS, url);
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}
