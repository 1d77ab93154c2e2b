import { BatchedEventBus } from './batched-event-bus.js';
import type { EventBus } from './event-bus.js';
import { channelName, DEFAULT_HEARTBEAT_MS, type EventBusOptions } from './event-transport.js';
import { RedisTransport } from './redis-transport.js';

export interface RedisEventBusOptions extends EventBusOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
}

/** Live events over publish and subscribe of one Redis. Connects at once and keeps two connections. */
export function createRedisEventBus({ url, namespace, heartbeatMs = DEFAULT_HEARTBEAT_MS }: RedisEventBusOptions): EventBus {
  const channel = channelName(namespace);
  return new BatchedEventBus((handlers) => new RedisTransport({ url, channel, heartbeatMs, handlers }));
}
