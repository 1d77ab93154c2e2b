import { BatchedEventBus } from './batched-event-bus.js';
import type { EventBus } from './event-bus.js';
import { channelName, DEFAULT_HEARTBEAT_MS, type EventBusOptions } from './event-transport.js';
import { PostgresTransport } from './postgres-transport.js';

export interface PostgresEventBusOptions extends EventBusOptions {
  /** No PgBouncer in transaction mode. */
  readonly connectionString: string;
}

/** Live events over LISTEN and NOTIFY of one Postgres database. Connects at once and keeps one connection. */
export function createPostgresEventBus({
  connectionString,
  namespace,
  heartbeatMs = DEFAULT_HEARTBEAT_MS,
}: PostgresEventBusOptions): EventBus {
  const channel = channelName(namespace);
  return new BatchedEventBus((handlers) => new PostgresTransport({ connectionString, channel, heartbeatMs, handlers }));
}
