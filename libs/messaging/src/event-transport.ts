/** What differs between the event bus on Postgres and on Redis: one text to every process, at most once, in order. */
export interface EventTransport {
  /** Rejects within seconds when the text may not have reached everyone; it is never sent again. */
  send(text: string): Promise<void>;
  /** Resolves when texts arrive here, or when the attempt to get there has failed and is being repeated. */
  listening(): Promise<void>;
  close(): Promise<void>;
}

export interface TransportHandlers {
  readonly onText: (text: string) => void;
  /** Texts may have been missed: the connection was lost, or did not come up at first, and is there now. */
  readonly onReconnect: () => void;
}

export type OpenTransport = (handlers: TransportHandlers) => EventTransport;

export interface EventBusOptions {
  /** Separates buses that share a backend; letters, digits, `_` and `-`, at most 40. Default `main`. */
  readonly namespace?: string;
  /** How long a connection may be silent before it is asked, and how long it may take to answer; default 5,000 ms each. */
  readonly heartbeatMs?: number;
}

const NAMESPACE = /^[\w-]{1,40}$/;

/** The channel's name in the backend; throws a RangeError for a namespace that is none. */
export function channelName(namespace = 'main'): string {
  if (!NAMESPACE.test(namespace)) throw new RangeError(`not an event namespace: ${namespace}`);
  return `echelon_events_${namespace}`;
}

export const DEFAULT_HEARTBEAT_MS = 5_000;

/** 100 ms, 200 ms … at most a second between attempts to connect. */
export const reconnectDelay = (attempt: number): number => Math.min(100 * attempt, 1_000);
