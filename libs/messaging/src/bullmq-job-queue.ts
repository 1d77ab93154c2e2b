import { type IQueueBackend, type Job as BullmqJob, Queue } from 'bullmq';
import {
  type BullmqBackend,
  DEFAULT_LOCK_MS,
  EVENTS_KEPT,
  JOB_OPTIONS,
  KEY_PREFIX,
  queueName,
  type QueueOptions,
  type WakeUp,
} from './bullmq-backend.js';
import { settlesWithin, withDeadline } from './deadline.js';
import { type Job, type JobQueue, type QueueHealth, QueueUnavailableError, type QueueWorker, type WorkOptions } from './job-queue.js';
import { RebuildingWorker } from './rebuilding-worker.js';

const BATCH = 500;
const ANSWER_MS = 3_000;
const CLOSE_MS = 1_000;
const MAX_PRIORITY = 2_000_000;
const JOB_ID = /^o-[\w-]{1,100}$/;

type Producer<B extends IQueueBackend, Connection> = Queue<WakeUp, void, string, WakeUp, void, string, B, Connection>;

/** The job queue on BullMQ, whatever the backend. */
export class BullmqJobQueue<B extends IQueueBackend, Connection> implements JobQueue {
  readonly #backend: BullmqBackend<B, Connection>;
  readonly #name: string;
  readonly #lockMs: number;
  readonly #workers = new Set<QueueWorker>();
  #producer: Promise<Producer<B, Connection>> | null = null;
  #closing: Promise<void> | null = null;

  constructor(backend: BullmqBackend<B, Connection>, { namespace, lockMs = DEFAULT_LOCK_MS }: QueueOptions) {
    this.#backend = backend;
    this.#name = queueName(namespace);
    this.#lockMs = lockMs;
  }

  async enqueue(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) assertJob(job);
    for (let start = 0; start < jobs.length; start += BATCH) {
      await this.#ask((producer) => add(producer, jobs.slice(start, start + BATCH)));
    }
  }

  work(options: WorkOptions): QueueWorker {
    if (this.#closing !== null) throw new Error('the queue is closed');
    if (!(Number.isInteger(options.concurrency) && options.concurrency >= 1))
      throw new RangeError('concurrency is a whole number from 1 on');
    const worker = new RebuildingWorker({ backend: this.#backend, queueName: this.#name, lockMs: this.#lockMs, work: options });
    this.#workers.add(worker);
    return worker;
  }

  async health(): Promise<QueueHealth> {
    try {
      return await this.#ask(readHealth);
    } catch (error) {
      return { reachable: false, reason: describe(error) };
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.close({ graceMs: 0 })));
    await settlesWithin(this.#closeConnections(), CLOSE_MS);
  }

  /** Takes as long as the backend likes; whoever closes does not wait for it. */
  async #closeConnections(): Promise<void> {
    const producer = await this.#producer?.catch(() => null);
    await producer?.close();
    await this.#backend.close();
  }

  /** Asks the backend through the producer, and never for longer than a few seconds (Q4). */
  async #ask<T>(question: (producer: Producer<B, Connection>) => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw new QueueUnavailableError('the queue is closed');
    try {
      return await withDeadline(this.#openProducer().then(question), ANSWER_MS);
    } catch (error) {
      throw new QueueUnavailableError(`the queue does not answer: ${describe(error)}`, { cause: error });
    }
  }

  /** BullMQ's producer; one that failed to start stays failed, so the next call starts another. */
  #openProducer(): Promise<Producer<B, Connection>> {
    this.#producer ??= this.#startProducer().catch((error: unknown) => {
      this.#producer = null;
      throw error;
    });
    return this.#producer;
  }

  async #startProducer(): Promise<Producer<B, Connection>> {
    await this.#backend.ping();
    const options = { connection: this.#backend.producer, prefix: KEY_PREFIX, defaultJobOptions: JOB_OPTIONS, streams: EVENTS_KEPT };
    const producer: Producer<B, Connection> = new Queue(this.#name, options, this.#backend.createBackend);
    // Every command rejects by itself; without a listener the same failure would end the process.
    producer.on('error', () => undefined);
    await producer.waitUntilReady();
    return producer;
  }
}

async function add<B extends IQueueBackend, Connection>(producer: Producer<B, Connection>, jobs: readonly Job[]): Promise<void> {
  const [first] = jobs;
  // On Postgres a bulk builds temporary tables, too dear for one job.
  if (jobs.length === 1 && first !== undefined) await producer.add('wake-up', { sessionId: first.sessionId }, optionsOf(first));
  else await producer.addBulk(jobs.map((job) => ({ name: 'wake-up', data: { sessionId: job.sessionId }, opts: optionsOf(job) })));
}

const optionsOf = ({ id, priority }: Job) => ({ jobId: id, priority });

async function readHealth<B extends IQueueBackend, Connection>(producer: Producer<B, Connection>): Promise<QueueHealth> {
  const [counts, next, nextPrioritized] = await Promise.all([
    producer.getJobCounts('wait', 'prioritized'),
    producer.getWaiting(0, 0),
    producer.getPrioritized(0, 0),
  ]);
  const addedAt = [...next, ...nextPrioritized].map((job: BullmqJob) => job.timestamp);
  return {
    reachable: true,
    waiting: (counts.wait ?? 0) + (counts.prioritized ?? 0),
    oldestWaitMs: Math.max(0, ...addedAt.map((time) => Date.now() - time)),
  };
}

function assertJob({ id, priority }: Job): void {
  if (!JOB_ID.test(id)) throw new RangeError(`not a job id: ${id}`);
  if (!(Number.isInteger(priority) && priority >= 0 && priority <= MAX_PRIORITY))
    throw new RangeError(`not a priority: ${String(priority)}`);
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
