/**
 * One transaction, and what must happen after its commit (K1, K14).
 *
 * U1  Wake-ups and events are rows of the transaction; losing the process after the commit loses nothing.
 * U2  After the commit the rows are handed on without anyone waiting for it.
 */
import { type Database, insertEvent, insertOutbox, type NewEvent, type OutboxRow, type Tx } from '@echelon/persistence';
import type { EventType } from '@echelon/contracts';

/** A transaction that can announce work and tell of changes. */
export interface Unit extends Tx {
  /** Announces that a session has work. */
  wake(sessionId: string, priority: number): Promise<void>;
  /** Stores a durable event. */
  tell(event: Omit<NewEvent, 'type'> & { readonly type: EventType }): Promise<void>;
}

/** Takes what a committed transaction announced; must return at once. */
export interface CommitListener {
  committed(announced: { readonly wakes: readonly OutboxRow[]; readonly told: boolean }): void;
}

export class Transactions {
  constructor(
    private readonly database: Database,
    private readonly listener: CommitListener,
  ) {}

  /** Runs one transaction, then hands its announcements on. Throws what `work` throws; nothing is then visible anywhere. */
  async run<T>(work: (unit: Unit) => Promise<T>): Promise<T> {
    let wakes: OutboxRow[] = [];
    let told = false;
    const value = await this.database.transaction((tx) => {
      wakes = [];
      told = false;
      return work({
        query: (text, values) => tx.query(text, values),
        wake: async (sessionId, priority) => {
          wakes.push(await insertOutbox(tx, sessionId, priority));
        },
        tell: (event) => {
          told = true;
          return insertEvent(tx, event);
        },
      });
    });
    if (wakes.length > 0 || told) this.listener.committed({ wakes, told });
    return value;
  }
}
