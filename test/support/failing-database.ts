import type { Database, OpenTx } from '@echelon/persistence';
import { Transactions } from '../../libs/orchestration/src/unit-of-work.js';

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

/** Transactions whose n-th statement does not get through; nobody hears of what they commit. */
export function failingTransactions(database: Database, statement: number): Transactions {
  return new Transactions(new FailingDatabase(database, statement) as unknown as Database, { committed: () => undefined });
}

/** Whether the failure that was put in came up. */
export async function fails(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch (error) {
    if (!(error instanceof InjectedFailure)) throw error;
    return true;
  }
}
