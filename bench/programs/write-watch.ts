/** What the database has written so far, asked beside it: the questions write nothing. */
import pg from 'pg';
import { until } from '../until.js';

const QUIET_MS = 300;

export interface Written {
  /** Transactions that wrote. */
  readonly transactions: number;
  readonly walKb: number;
}

/** Watches the whole cluster, so nothing else may write meanwhile. */
export class WriteWatch {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(databaseUrl: string): Promise<WriteWatch> {
    const url = new URL(databaseUrl);
    url.pathname = '/postgres';
    const client = new pg.Client(url.href);
    await client.connect();
    return new WriteWatch(client);
  }

  async read(): Promise<Written> {
    const { rows } = await this.#client.query<{ transactions: number; wal_kb: number }>(
      `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS transactions,
         (pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') / 1024)::float8 AS wal_kb`,
    );
    const [row] = rows;
    if (!row) throw new Error('the database said nothing');
    return { transactions: row.transactions, walKb: row.wal_kb };
  }

  /** Resolves when nothing has been written for a while. */
  async waitUntilQuiet(): Promise<void> {
    let seen = -1;
    await until(async () => {
      const before = seen;
      seen = (await this.read()).transactions;
      return seen === before;
    }, QUIET_MS);
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
