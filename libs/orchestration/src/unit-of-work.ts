/**
 * One transaction, and what must happen after its commit (K1, K14).
 *
 * U1  Wake-ups and events are rows of the transaction; losing the process after the commit loses nothing.
 * U2  They are the last statements of it, whenever they were asked for.
 * U3  After the commit the rows are handed on without anyone waiting for it.
 */
import { type Database, newId, type NewEvent, type OpenTx, type OutboxRow, sendEvents, sendOutbox } from '@echelon/persistence';
import type { EventType } from '@echelon/contracts';

/** A transaction that can announce work and tell of changes. */
export interface Unit extends OpenTx {
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
    let events: NewEvent[] = [];
    const value = await this.database.transaction(async (tx) => {
      wakes = [];
      events = [];
      const done = await work({
        query: (text, values) => tx.query(text, values),
        send: (text, values) => tx.send(text, values),
        wake: async (sessionId, priority) => void wakes.push({ id: newId(), session_id: sessionId, priority }),
        tell: async (event) => void events.push(event),
      });
      sendOutbox(tx, wakes);
      sendEvents(tx, events);
      return done;
    });
    if (wakes.length > 0 || events.length > 0) this.listener.committed({ wakes, told: events.length > 0 });
    return value;
  }
}
