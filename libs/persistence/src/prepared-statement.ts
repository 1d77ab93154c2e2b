/** Statements by name: a connection parses each of them once, and Postgres keeps its plan. Every text of ours is a constant. */
import pg from 'pg';
import type { Values } from './database.js';

const names = new Map<string, string>();

/** The statement as a connection takes it. */
export function prepare(text: string, values: Values): pg.QueryConfig {
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
