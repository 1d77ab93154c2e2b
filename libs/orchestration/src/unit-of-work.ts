/**
 * One transaction, and what must happen after its commit (K1, K14).
 *
 * U1  Wake-ups and events are rows of the transaction; losing the process after the commit loses nothing.
 * U2  They are the last statements of it, whenever they were asked for.
 * U3  After the commit the rows are handed on without anyone waiting for it.
 * U4  What a capped tree runs next is decided after every statement that may wait for a row (K11, K24).
 */
import {
  type Database,
  markAnnounced,
  newId,
  type NewEvent,
  type OpenTx,
  type OutboxRow,
  sendEvents,
  sendOutbox,
  sendOutboxUnlocked,
} from '@echelon/persistence';
import type { EventType } from '@echelon/contracts';
import { listNextTurns } from './tree-turns.js';

/** A transaction that can announce work and tell of changes. */
export interface Unit extends OpenTx {
  /** Turns that one tree runs at once; 0 is unlimited. */
  readonly turnsPerTree: number;
  /** Announces that a session has work, to the workers of the root in which its folder lies, where that is known. */
  wake(sessionId: string, priority: number, rootId: string | null): Promise<void>;
  /** Announces what the task's tree runs next; a session that gives up its turn is announced by its place among the others. */
  passTurn(taskId: string, sessionId?: string): void;
  /** Stores a durable event. */
  tell(event: Omit<NewEvent, 'type'> & { readonly type: EventType }): Promise<void>;
}

/** Takes what a committed transaction announced; must return at once. */
export interface CommitListener {
  committed(announced: { readonly wakes: readonly OutboxRow[]; readonly told: boolean }): void;
}

/** What a transaction announces at its end. */
interface Announcements {
  wakes: OutboxRow[];
  /** Tasks whose trees have a turn free again. */
  readonly trees: Set<string>;
  /** Sessions that gave theirs up. */
  readonly yielding: Set<string>;
  readonly events: NewEvent[];
}

export class Transactions {
  constructor(
    private readonly database: Database,
    private readonly listener: CommitListener,
    readonly turnsPerTree = 0,
  ) {}

  /** Runs one transaction, then hands its announcements on. Throws what `work` throws; nothing is then visible anywhere. */
  async run<T>(work: (unit: Unit) => Promise<T>): Promise<T> {
    let wakes: readonly OutboxRow[] = [];
    let events: readonly NewEvent[] = [];
    const value = await this.database.transaction(async (tx) => {
      const announced: Announcements = { wakes: [], trees: new Set(), yielding: new Set(), events: [] };
      const done = await work(this.#unitOf(tx, announced));
      const next = await this.#passOn(tx, announced);
      sendOutbox(tx, announced.wakes);
      sendOutboxUnlocked(tx, next);
      sendEvents(tx, announced.events);
      wakes = [...next, ...announced.wakes];
      events = announced.events;
      return done;
    });
    if (wakes.length > 0 || events.length > 0) this.listener.committed({ wakes, told: events.length > 0 });
    return value;
  }

  #unitOf(tx: OpenTx, { wakes, trees, yielding, events }: Announcements): Unit {
    return {
      turnsPerTree: this.turnsPerTree,
      query: (text, values) => tx.query(text, values),
      send: (text, values) => tx.send(text, values),
      wake: async (sessionId, priority, rootId) => void wakes.push({ id: newId(), session_id: sessionId, priority, root_id: rootId }),
      passTurn: (taskId, sessionId) => {
        trees.add(taskId);
        if (sessionId) yielding.add(sessionId);
      },
      tell: async (event) => void events.push(event),
    };
  }

  /** What the trees that have a turn free again run next; who gave one up and does not come next waits as if announced now (K10). */
  async #passOn(tx: OpenTx, announced: Announcements): Promise<readonly OutboxRow[]> {
    if (this.turnsPerTree === 0 || announced.trees.size === 0) return [];
    const { yielding, wakes } = announced;
    const yielded = wakes.map(({ session_id }) => session_id).filter((id) => yielding.has(id));
    markAnnounced(tx, yielded);
    announced.wakes = wakes.filter(({ session_id }) => !yielding.has(session_id));
    const woken = new Set(announced.wakes.map(({ session_id }) => session_id));
    const next = await listNextTurns(tx, this.turnsPerTree, [...announced.trees]);
    return next.filter(({ session_id }) => !woken.has(session_id));
  }
}
