import { type ConnectionOptions, createRedisBackend, type RedisQueueBackend } from 'bullmq';
import { Redis } from 'ioredis';
import type { BullmqBackend, QueueOptions } from './bullmq-backend.js';
import { BullmqJobQueue } from './bullmq-job-queue.js';
import type { JobQueue } from './job-queue.js';
import { failFastOptions, steadyOptions, waitUntilReady } from './redis-connection.js';

export interface RedisJobQueueOptions extends QueueOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
}

/** The job queue on Redis 6.2 or newer, with `maxmemory-policy noeviction`. Connects at once. */
export function createRedisJobQueue(options: RedisJobQueueOptions): JobQueue {
  return new BullmqJobQueue(new RedisBackend(options.url), options);
}

class RedisBackend implements BullmqBackend<RedisQueueBackend, ConnectionOptions> {
  readonly createBackend = createRedisBackend;
  readonly producer: Redis;
  readonly consumer: ConnectionOptions;

  constructor(url: string) {
    this.producer = new Redis(url, failFastOptions);
    // Every command rejects by itself; without a listener the same failure would be printed.
    this.producer.on('error', () => undefined);
    this.consumer = { ...steadyOptions, url };
  }

  async ping(): Promise<void> {
    await waitUntilReady(this.producer);
    await this.producer.ping();
  }

  close(): Promise<void> {
    this.producer.disconnect();
    return Promise.resolve();
  }
}
