import { once } from 'node:events';
import type { Redis, RedisOptions } from 'ioredis';

const READY_MS = 2_000;
const RETRY_STEP_MS = 50;
const RETRY_LIMIT_MS = 1_000;

/** Comes back within a second of Redis's return, for ever. */
const retryStrategy = (attempt: number): number => Math.min(attempt * RETRY_STEP_MS, RETRY_LIMIT_MS);

/** For whoever must know at once: no command waits for a connection, none is sent twice, none lasts longer than two seconds. */
export const failFastOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 2_000,
  connectTimeout: 2_000,
  keepAlive: 5_000,
  retryStrategy,
} satisfies RedisOptions;

/** For whoever waits out an outage: BullMQ's workers demand that no command is given up. */
export const steadyOptions = { maxRetriesPerRequest: null, connectTimeout: 2_000, keepAlive: 5_000, retryStrategy } satisfies RedisOptions;

/** Resolves when the connection is ready, rejects after two seconds without one. */
export async function waitUntilReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(READY_MS) });
  } catch (error) {
    throw new Error('no connection to Redis', { cause: error });
  }
}
