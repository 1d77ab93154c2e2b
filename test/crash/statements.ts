/**
 * The statements of an operation as points at which its process can die: counted as they are given to Postgres, and named by what
 * they do. The product knows nothing of it.
 *
 * C1  One answer is heard at a time, so that the statements of work that is done at once come in the same order in every run.
 * C2  What was given before a point leaves the process; what comes after it is never given.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPool, Database } from '@echelon/persistence';
import type pg from 'pg';

/** A moment next to one statement of an operation: it was not given yet, or its answer has arrived. */
export interface CrashPoint {
  readonly when: 'before' | 'after';
  /** Ordinal and label, as in `07 INSERT queue_entry`. */
  readonly statement: string;
}

type Query = (given: pg.QueryConfig) => Promise<unknown>;

const watches = new AsyncLocalStorage<Watch>();

/** Opens a door to a database; what is given to it inside of a watch is watched. Statements of `leftOut` are never run: a fault. */
export function openWatched(url: string, applicationName: string, leftOut?: RegExp): Database {
  const pool = createPool(url, { max: 40, applicationName });
  pool.on('connect', (client) => {
    const given = client.query.bind(client) as Query;
    const query: Query = (one) => (leftOut?.test(one.text) ? Promise.resolve({ rows: [], rowCount: 0 }) : given(one));
    const watched: Query = (given) => watches.getStore()?.give(given, query) ?? query(given);
    client.query = watched as typeof client.query;
  });
  return new Database(pool);
}

/** Runs an operation and names its statements, in the order in which they were given. */
export async function recordStatements(operation: () => Promise<unknown>): Promise<readonly string[]> {
  const watch = new Watch(null);
  await watches.run(watch, operation);
  return watch.given;
}

/** Runs an operation up to the point, where it stands still for ever; rejects where it does not come there. */
export async function runTo(point: CrashPoint, operation: () => Promise<unknown>): Promise<void> {
  const watch = new Watch(point);
  const over = watches.run(watch, operation).then(() => {
    throw new Error(`over before it came to ${point.when} ${point.statement}: ${watch.given.join(', ')}`);
  });
  await Promise.race([watch.arrival, over]);
  await nextTurn();
}

/** What one operation gives to Postgres. */
class Watch {
  readonly given: string[] = [];
  readonly #arrival = Promise.withResolvers<void>();
  #arrived = false;

  constructor(private readonly point: CrashPoint | null) {}

  get arrival(): Promise<void> {
    return this.#arrival.promise;
  }

  give(given: pg.QueryConfig, query: Query): Promise<unknown> {
    const name = `${String(this.given.length + 1).padStart(2, '0')} ${labelOf(given.text)}`;
    this.given.push(name);
    this.#arrive('before', name);
    return this.#arrived ? forever() : this.#hear(name, query(given));
  }

  async #hear(name: string, answer: Promise<unknown>): Promise<unknown> {
    try {
      return await answer;
    } finally {
      this.#arrive('after', name);
      await (this.#arrived ? forever() : nextTurn());
    }
  }

  #arrive(when: CrashPoint['when'], name: string): void {
    if (when !== this.point?.when || name !== this.point.statement) return;
    this.#arrived = true;
    this.#arrival.resolve();
  }
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}

const LOCK = / FOR (NO KEY )?(UPDATE|KEY SHARE|SHARE)\b/;
const WRITE = /\b(INSERT INTO|UPDATE|DELETE FROM) (?!SET\b)(\w+)/g;

/** What a statement does, in few words: the tables that it writes or locks, else the one that it reads first. */
function labelOf(sql: string): string {
  const text = sql.replaceAll(/\s+/g, ' ').trim();
  const [verb = ''] = text.split(/[ ;]/);
  if (text === verb) return verb;
  const lock = LOCK.exec(text)?.[0] ?? '';
  const writes = [...text.replaceAll(new RegExp(LOCK, 'g'), '').matchAll(WRITE)];
  if (writes.length > 0) return [...new Set(writes.map(([, write = '', table = '']) => `${write.split(' ')[0]} ${table}`))].join(' + ');
  return `SELECT ${/\bFROM (\w+)/.exec(text)?.[1] ?? 'nothing'}${lock}`;
}
