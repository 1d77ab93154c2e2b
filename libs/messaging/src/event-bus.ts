/**
 * The port that carries live events between processes. It keeps nothing: durable events are rows (protocol.md K15).
 *
 * E1  Events of one publisher reach a listener in the order of publication; nothing is said about two publishers.
 * E2  A listener that may have missed something hears `onGap` and reads again from its cursor. There is no silent gap.
 * E3  Publishing costs its caller no round trip and no failure: events travel in batches, at most one per 8 ms, outside every transaction.
 */

/** One live event. */
export interface LiveEvent {
  /** What it is about, for example `session.<id>`: letters, digits, `.`, `_` and `-`, at most 200 characters. */
  readonly topic: string;
  /** JSON text; at most 256 KiB in UTF-8, larger ones become a gap. */
  readonly payload: string;
}

/** Why events may be missing: the connection was lost; a publisher's was; an event was too large; a publisher had too many to send. */
export type GapReason = 'reconnected' | 'publisher_reconnected' | 'oversize' | 'overflow';

/** What a subscriber does; neither function may throw. */
export interface EventListener {
  readonly onEvent: (event: LiveEvent) => void;
  /** Events that this subscription asked for may be missing: read again from the cursor. */
  readonly onGap: (reason: GapReason) => void;
}

export interface EventBus {
  /** Sends events to every subscriber in every process, this one too. Never blocks and never throws; a loss becomes a gap (E2). */
  publish(events: readonly LiveEvent[]): void;
  /**
   * Hears the events of one topic, or of every topic with a prefix when the filter ends with `*` (`session.*`, `*`).
   * Once resolved, no later event is missed without a gap; while the backend is down it resolves and the gap comes at its return.
   */
  subscribe(filter: string, listener: EventListener): Promise<Unsubscribe>;
  /** Called after each lost connection is back, when every subscription has heard its gap; for logs and metrics. */
  onReconnect(listener: () => void): Unsubscribe;
  /** Sends what is pending if the backend is there, then closes the connections; afterwards nothing is delivered. */
  close(): Promise<void>;
}

export type Unsubscribe = () => void;
