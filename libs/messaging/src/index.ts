export type { Job, JobQueue, QueueHealth, QueueWorker, WorkOptions } from './job-queue.js';
export { QueueUnavailableError } from './job-queue.js';
export type { EventBus, EventListener, GapReason, LiveEvent, Unsubscribe } from './event-bus.js';
export { createPostgresJobQueue, type PostgresJobQueueOptions } from './postgres-job-queue.js';
export { createRedisJobQueue, type RedisJobQueueOptions } from './redis-job-queue.js';
export { createPostgresEventBus, type PostgresEventBusOptions } from './postgres-event-bus.js';
export { createRedisEventBus, type RedisEventBusOptions } from './redis-event-bus.js';
