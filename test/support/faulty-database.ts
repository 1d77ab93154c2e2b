/** A product with a fault: statements that it should run and does not. A suite that is to be trusted finds it. */
import { createPool, Database } from '@echelon/persistence';
import type pg from 'pg';

type Query = (given: pg.QueryConfig) => Promise<unknown>;

/** Opens a door to a database that answers statements of the pattern as if they had found no row, and runs the others. */
export function openFaulty(url: string, leftOut: RegExp): Database {
  const pool = createPool(url, { max: 16 });
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as Query;
    const faulty: Query = (given) => (leftOut.test(given.text) ? Promise.resolve({ rows: [], rowCount: 0 }) : query(given));
    client.query = faulty as typeof client.query;
  });
  return new Database(pool);
}
