import { BatchedEventBus } from './batched-event-bus.js';
import type { EventBus } from './event-bus.js';
import { channelName, DEFAULT_HEARTBEAT_MS, type EventBusOptions } from './event-transport.js';
import { PostgresTransport } from './postgres-transport.js';

export interface PostgresEventBusOptions extends EventBusOptions {
  /** No PgBouncer in transaction mode. */
  readonly connectionString: string;
  /** Settings of its connection, such as its role; by default the login's own. */
  readonly sessionOptions?: string | undefined;
}

/** Live events over LISTEN and NOTIFY of one Postgres database. Connects at once and keeps one connection. */
export function createPostgresEventBus({
  connectionString,
  sessionOptions,
  namespace,
  heartbeatMs = DEFAULT_HEARTBEAT_MS,
}: PostgresEventBusOptions): EventBus {
  const channel = channelName(namespace);
  return new BatchedEventBus((handlers) => new PostgresTransport({ connectionString, sessionOptions, channel, heartbeatMs, handlers }));
}
