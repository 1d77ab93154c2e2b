import type { Database, OpenTx } from '@echelon/persistence';

/** Postgres as it is, except that one statement of a transaction does not get through. */
export class FailingDatabase {
  constructor(
    private readonly database: Database,
    private readonly statement: number,
  ) {}

  transaction<T>(work: (tx: OpenTx) => Promise<T>): Promise<T> {
    let seen = 0;
    const count = () => {
      if (++seen === this.statement) throw new InjectedFailure();
    };
    return this.database.transaction((tx) =>
      work({
        query: (text, values) => {
          count();
          return tx.query(text, values);
        },
        send: (text, values) => {
          count();
          tx.send(text, values);
        },
      }),
    );
  }
}

export class InjectedFailure extends Error {}
