import type { DurableEvent, LiveEvent } from '@echelon/contracts';
import type { EventBus } from '@echelon/messaging';
import type { Database } from '@echelon/persistence';
import type { Actor } from './actor.js';
import type { Outcome } from './outcome.js';

/** What a subscriber hears: there may be new positions (read again from your cursor), or a piece of a live stream. */
export type EventNotice = { readonly kind: 'advanced' } | { readonly kind: 'live'; readonly event: LiveEvent };

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

/** Durable events in the order of their positions, and the live stream of this process (K15). */
export class EventService {
  constructor(
    private readonly database: Database,
    private readonly bus: EventBus,
  ) {}

  read(actor: Actor, query: ReadEvents): Promise<Outcome<ReadEventsResult>> {
    throw new Error(`not built: ${String([this.database, this.bus, actor, query])}`);
  }

  subscribe(listener: (notice: EventNotice) => void): () => void {
    throw new Error(`not built: ${String(listener)}`);
  }

  head(): Promise<string> {
    throw new Error('not built');
  }
}
