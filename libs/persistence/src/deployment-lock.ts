/**
 * Who works on a database: an advisory lock that every process of ours holds for as long as its storage is open, shared with the
 * others, and that a restore holds alone (operations.md, Backup and restore).
 *
 * L1  It is taken before anything is migrated, read or written.
 * L2  A process that loses its connection takes the lock again on another; while a restore holds it, it asks again and again.
 * L3  A restore also looks for presences: a worker may live on while its connection for this lock comes back.
 * L4  A restore does not take a lost lock again: somebody may have started meanwhile. It asks before each commit, and fails.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connectAsLogin } from './login-connection.js';
import { MigrationError } from './migration-error.js';
import { PRESENCE_LOCK_CLASS, PRESENCE_HELD } from './sql/presence-lock.js';

export interface DeploymentLock {
  release(): Promise<void>;
  /** Throws `MigrationError` where others of ours may work on the database too, as they may once a restore's connection has ended. */
  assertAlone(): Promise<void>;
}

/** Second key beside the presences' class: presence numbers start at 1. */
const KEYS = `${PRESENCE_LOCK_CLASS}, 0`;
const AGAIN_MS = 200;

const IN_USE = 'An Echelon works on this database: stop every server and worker first.';
const LOST = 'The restore lost its hold on this database, and others may have started: stop every server and worker, then restore again.';
const RESTORING = 'A restore works on this database: wait until it has ended, then start again.';

/** Joins those that work on the database at `url`. Throws `MigrationError` while a restore does. */
export async function joinDeployment(url: string): Promise<DeploymentLock> {
  const client = await connectAsLogin(url, 'echelon-process');
  if (await takeShared(client)) return new JoinedDeployment(url, client);
  await client.end();
  throw new MigrationError('restore_running', RESTORING);
}

/** Takes the database at `url` for one restore alone. Throws `MigrationError` while anybody else of ours works on it. */
export async function takeDeployment(url: string): Promise<DeploymentLock> {
  const client = await connectAsLogin(url, 'echelon-restore');
  client.on('error', () => undefined);
  try {
    await refuseOthers(client);
    return { release: () => client.end(), assertAlone: () => assertAlone(client) };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function assertAlone(client: pg.Client): Promise<void> {
  const held = `SELECT 1 FROM pg_locks l WHERE ${PRESENCE_HELD} AND l.objid = 0 AND l.pid = pg_backend_pid()`;
  const { rows } = await client.query(held).catch(() => ({ rows: [] }));
  if (rows.length === 0) throw new MigrationError('restore_lost', LOST);
}

async function refuseOthers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${KEYS}) AS taken`);
  const { rows: others } = await client.query<{ restores: boolean }>(
    `SELECT l.objid = 0 AND l.mode = 'ExclusiveLock' AS restores FROM pg_locks l WHERE ${PRESENCE_HELD} AND l.pid <> pg_backend_pid()`,
  );
  if (others.some(({ restores }) => restores)) throw new MigrationError('restore_running', RESTORING);
  if (!rows[0]?.taken || others.length > 0) throw new MigrationError('database_in_use', IN_USE);
}

async function takeShared(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock_shared(${KEYS}) AS taken`);
  return rows[0]?.taken === true;
}

/** Holds the lock, and takes it again on another connection for as long as it is not released (L2). */
class JoinedDeployment implements DeploymentLock {
  readonly #released = new AbortController();
  readonly #kept: Promise<void>;
  #client: pg.Client;

  constructor(
    private readonly url: string,
    client: pg.Client,
  ) {
    this.#client = client;
    this.#kept = this.#keep();
  }

  assertAlone(): Promise<void> {
    return Promise.reject(new MigrationError('database_in_use', IN_USE));
  }

  async release(): Promise<void> {
    this.#released.abort();
    await this.#client.end();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    const { signal } = this.#released;
    while (!signal.aborted) {
      await untilEnded(this.#client);
      while (!signal.aborted && !(await this.#rejoin())) await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** `false` where the database cannot be reached, went away again, or is being restored. */
  async #rejoin(): Promise<boolean> {
    try {
      const client = await connectAsLogin(this.url, 'echelon-process');
      client.on('error', () => undefined);
      this.#client = client;
      if (!this.#released.signal.aborted && (await takeShared(client))) return true;
      await client.end();
      return false;
    } catch {
      return false;
    }
  }
}

function untilEnded(client: pg.Client): Promise<void> {
  return new Promise((resolve) => {
    // 'end' follows.
    client.on('error', () => undefined);
    client.once('end', () => resolve());
  });
}
