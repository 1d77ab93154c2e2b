/** A pool whose statements wait to be let through one by one, so that a spec decides whose statement runs next. */
import type pg from 'pg';
import { createPool, Database } from '@echelon/persistence';

interface Waiting {
  readonly text: string;
  /** Gives the statement to Postgres; resolves when it has answered. */
  readonly give: () => Promise<unknown>;
}

/** What an actor is doing between two of its statements. */
export type Standing = 'over' | 'waits' | 'computes' | 'in_postgres';

/** One actor: its own connection, its operation, and the statements that it has ready. */
export class Actor {
  readonly database: Database;
  readonly #waiting: Waiting[] = [];
  #state: 'open' | 'stepped' = 'open';
  #answered: Promise<unknown> | null = null;
  #operation: Promise<unknown> = Promise.resolve();
  #over = true;
  #pid = 0;
  /** Resolves when `standing` may have changed. */
  #changed = Promise.withResolvers<void>();

  constructor(url: string) {
    const pool = createPool(url, { max: 1 });
    pool.on('connect', (client) => this.#watch(client));
    this.database = new Database(pool);
  }

  /** Process id of its connection in Postgres. */
  get pid(): number {
    return this.#pid;
  }

  get standing(): Standing {
    if (this.#answered) return 'in_postgres';
    if (this.#over) return 'over';
    return this.#waiting.length > 0 ? 'waits' : 'computes';
  }

  /** The statement that would run next. */
  get next(): string {
    return this.#waiting[0]?.text ?? '';
  }

  /** Starts an operation; each of its statements waits for `step`. */
  begin(operation: () => Promise<unknown>): void {
    this.#state = 'stepped';
    this.#over = false;
    this.#operation = operation();
    const end = () => {
      this.#over = true;
      this.#state = 'open';
      this.#change();
    };
    this.#operation.then(end, end);
  }

  /** Lets the next statement run. */
  step(): void {
    const waiting = this.#waiting.shift();
    if (!waiting) throw new Error('nothing waits');
    const answered = waiting.give();
    this.#answered = answered;
    const end = () => {
      this.#answered = null;
      this.#change();
    };
    answered.then(end, end);
  }

  /** Resolves when the actor stands otherwise than before. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** What the operation came to; rejects as it did. */
  outcome(): Promise<unknown> {
    return this.#operation;
  }

  close(): Promise<void> {
    return this.database.close();
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #watch(client: pg.PoolClient): void {
    this.#pid = (client as pg.PoolClient & { readonly processID: number }).processID;
    const query = client.query.bind(client) as (given: pg.QueryConfig) => Promise<unknown>;
    const gated = (given: pg.QueryConfig): Promise<unknown> => (this.#state === 'open' ? query(given) : this.#enqueue(given, query));
    client.query = gated as typeof client.query;
  }

  #enqueue(given: pg.QueryConfig, query: (given: pg.QueryConfig) => Promise<unknown>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({
      text: given.text,
      give: () => {
        const answered = query(given);
        answered.then(resolve, reject);
        return answered;
      },
    });
    this.#change();
    return promise;
  }
}
