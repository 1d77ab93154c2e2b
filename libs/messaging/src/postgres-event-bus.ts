import { BatchedEventBus } from './batched-event-bus.js';
import type { EventBus } from './event-bus.js';
import { channelName, type EventBusOptions } from './event-transport.js';
import { PostgresTransport } from './postgres-transport.js';

export interface PostgresEventBusOptions extends EventBusOptions {
  /** No PgBouncer in transaction mode. */
  readonly connectionString: string;
}

/** Live events over LISTEN and NOTIFY of one Postgres database. Connects at once and keeps one connection. */
export function createPostgresEventBus({ connectionString, namespace }: PostgresEventBusOptions): EventBus {
  const channel = channelName(namespace);
  return new BatchedEventBus((handlers) => new PostgresTransport({ connectionString, channel, handlers }));
}
