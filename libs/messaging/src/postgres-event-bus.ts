import { BatchedEventBus } from './batched-event-bus.js';
import type { EventBus } from './event-bus.js';
import { channelName, DEFAULT_HEARTBEAT_MS, type EventBusOptions } from './event-transport.js';
import { PostgresTransport } from './postgres-transport.js';

export interface PostgresEventBusOptions extends EventBusOptions {
  /** No PgBouncer in transaction mode. */
  readonly connectionString: string;
  /** Role that it works as; by default the login's. */
  readonly role?: string | undefined;
}

/** Live events over LISTEN and NOTIFY of one Postgres database. Connects at once and keeps one connection. */
export function createPostgresEventBus({
  connectionString,
  role,
  namespace,
  heartbeatMs = DEFAULT_HEARTBEAT_MS,
}: PostgresEventBusOptions): EventBus {
  const channel = channelName(namespace);
  return new BatchedEventBus((handlers) => new PostgresTransport({ connectionString, role, channel, heartbeatMs, handlers }));
}
