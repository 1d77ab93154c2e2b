import pg from 'pg';
import { sessionOptions } from './application-role.js';

export interface PoolOptions {
  /** Most connections at once. */
  readonly max: number;
  /** What Postgres shows in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** Longest time of one statement in milliseconds; no limit where absent. */
  readonly statementTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Opens a pool on the migrated database at `url`, which works as the application's role; the caller ends it.
 *
 * Sessions speak UTC (K19). Queries of one connection do not wait for each other's answers. A connection that the server closes
 * while idle leaves the pool, and the next query opens another; a query fails within 5 s when the server cannot be reached.
 */
export function createPool(url: string, { max, applicationName = 'echelon', statementTimeoutMs }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: applicationName,
    options: sessionOptions(url),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    ...(statementTimeoutMs === undefined ? {} : { statement_timeout: statementTimeoutMs }),
  });
  // Without a listener a server stop would end the process; whoever waits for an answer hears of it, and the pool drops the connection.
  pool.on('error', ignore);
  pool.on('connect', (connection) => connection.on('error', ignore));
  return pool;
}

function ignore(): void {
  return undefined;
}
