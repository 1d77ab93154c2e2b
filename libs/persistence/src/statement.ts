/** Statements by name: a connection parses each of them once, and Postgres keeps its plan. Every text of ours is a constant. */
import pg from 'pg';
import type { Values } from './database.js';

/** What a pool hands out is a whole client, although its type says less. */
export type Connection = pg.PoolClient & Pick<pg.Client, 'connection'>;

const names = new Map<string, string>();

/**
 * Gives a statement to a connection. Those that are given in one tick leave in one piece: a write to the socket costs more than most
 * statements, and wakes the server each time.
 */
export function give<Row extends object>(client: Connection, text: string, values: Values): Promise<pg.QueryResult<Row>> {
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
  return client.query<Row>(prepare(text, values));
}

function prepare(text: string, values: Values): pg.QueryConfig {
  let name = names.get(text);
  if (name === undefined) {
    name = `statement_${names.size}`;
    names.set(text, name);
  }
  return { name, text, values: [...values] };
}

/** A migration changed a table under the connection: it cannot run the statement again, a new connection can. */
export function isStalePlan(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
}
