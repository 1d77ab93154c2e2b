/**
 * One connection after another migrates or grants in a database. Whoever waits asks again and again: a statement that waits for a lock
 * holds its snapshot meanwhile, and `CREATE INDEX CONCURRENTLY` of the lock's holder would wait for that snapshot.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { MigrationError } from './migration-error.js';

/** Any number, the same in every version of the program. */
const MIGRATION_LOCK = 7_270_736_901;
const AGAIN_MS = 150;
const LONGEST_WAIT_MS = 60_000;

const MIGRATING = 'Another program migrates this database, and went on for more than 60 s: wait until it has ended, then start again.';

/** Takes the lock until the connection ends, or its transaction. Waits up to `longestMs`, by default 60 s, then throws `MigrationError`. */
export async function takeMigrationLock(client: pg.Client, until: 'end' | 'commit', longestMs = LONGEST_WAIT_MS): Promise<void> {
  const attempt = until === 'end' ? 'pg_try_advisory_lock' : 'pg_try_advisory_xact_lock';
  const deadline = performance.now() + longestMs;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(`SELECT ${attempt}($1) AS taken`, [MIGRATION_LOCK]);
    if (rows[0]?.taken) return;
    if (performance.now() > deadline) throw new MigrationError('migration_running', MIGRATING);
    await sleep(AGAIN_MS);
  }
}
