export type { Job, JobQueue, QueueHealth, QueueWorker, WorkOptions } from './job-queue.js';
export { QueueUnavailableError } from './job-queue.js';
export type { EventBus, EventListener, GapReason, LiveEvent, Unsubscribe } from './event-bus.js';
