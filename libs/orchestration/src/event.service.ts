/**
 * Durable events in the order of their positions, and what streams live (K15).
 *
 * E1  A cursor is the position of the last event that its holder has seen or that was filtered out for it; to clients it is opaque.
 * E2  A notice tells only that there may be more: the events themselves are read, so that none is skipped or reordered.
 */
import type { DurableEvent, LiveEvent } from '@echelon/contracts';
import { isRefusal } from '@echelon/domain';
import type { EventBus, Unsubscribe } from '@echelon/messaging';
import { type Database, type EventRange, readEventRange, readEvents } from '@echelon/persistence';
import type { Actor } from './actor.js';
import { EVENT_TOPICS, LIVE_TOPICS } from './event-topics.js';
import type { Outcome } from './outcome.js';
import { isId, scopeOf } from './scope.js';
import { toDurableEvent } from './sequencer.js';

/** What a subscriber hears: there may be new positions (read again from your cursor), or a piece of a live stream. */
export type EventNotice = { readonly kind: 'advanced' } | { readonly kind: 'live'; readonly event: LiveEvent };
export type EventSubscriber = (notice: EventNotice) => void;

export interface ReadEvents {
  /** Cursor of the last event that the caller has; `null` reads from the head. */
  readonly after: string | null;
  readonly workspace_id?: string | undefined;
  readonly task_id?: string | undefined;
  readonly limit: number;
}

export interface ReadEventsResult {
  readonly events: readonly DurableEvent[];
  /** Pass it on as the next `after`. */
  readonly cursor: string;
  /** The given cursor is unknown or expired: events may be missing, start over from `cursor`. */
  readonly reset: boolean;
}

const CURSOR = /^\d{1,18}$/;
const ADVANCED: EventNotice = { kind: 'advanced' };

export class EventService {
  readonly #subscribers = new Set<EventSubscriber>();
  #attached: Promise<readonly Unsubscribe[]> | null = null;

  constructor(
    private readonly database: Database,
    private readonly bus: EventBus,
  ) {}

  /** Stamped events after a cursor, oldest first, of one workspace or one task where named. An agent reads its own workspace's. */
  async read(actor: Actor, query: ReadEvents): Promise<Outcome<ReadEventsResult>> {
    const scope = scopeOf(actor, query.workspace_id);
    if (isRefusal(scope)) return scope;
    const range = await readEventRange(this.database);
    if (query.after === null) return { events: [], cursor: range.head, reset: false };
    if (!isReadable(query.after, range)) return { events: [], cursor: range.head, reset: true };
    if (query.task_id !== undefined && !isId(query.task_id)) return { events: [], cursor: range.head, reset: false };
    const filter = { after: query.after, through: range.head, ...scope, taskId: query.task_id ?? null, limit: query.limit };
    const events = (await readEvents(this.database, filter)).map(toDurableEvent);
    const last = events.length < query.limit ? undefined : events.at(-1);
    return { events, cursor: last?.position ?? range.head, reset: false };
  }

  /** Calls the listener, which must not throw, whenever there may be new positions and for each live event; returns how to stop it. */
  subscribe(listener: EventSubscriber): () => void {
    this.#subscribers.add(listener);
    this.#attached ??= this.#attach();
    return () => this.#subscribers.delete(listener);
  }

  /** The cursor that has seen everything. */
  async head(): Promise<string> {
    return (await readEventRange(this.database)).head;
  }

  /** Leaves the bus; subscribers hear nothing more. */
  async close(): Promise<void> {
    this.#subscribers.clear();
    for (const leave of (await this.#attached) ?? []) leave();
  }

  /** What came between `subscribe` and the bus's agreement is caught by one notice at the end. */
  async #attach(): Promise<readonly Unsubscribe[]> {
    const advance = () => this.#notify(ADVANCED);
    const durable = await this.bus.subscribe(EVENT_TOPICS, { onEvent: advance, onGap: advance });
    const live = await this.bus.subscribe(LIVE_TOPICS, {
      onEvent: ({ payload }) => this.#notify({ kind: 'live', event: JSON.parse(payload) as LiveEvent }),
      onGap: () => undefined,
    });
    advance();
    return [durable, live];
  }

  #notify(notice: EventNotice): void {
    for (const subscriber of this.#subscribers) subscriber(notice);
  }
}

function isReadable(cursor: string, { head, oldest }: EventRange): boolean {
  return CURSOR.test(cursor) && BigInt(cursor) <= BigInt(head) && BigInt(cursor) >= BigInt(oldest) - 1n;
}
