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
import { JoinedWorker } from './joined-worker.js';
import { RebuildingWorker } from './rebuilding-worker.js';

const BATCH = 500;
const ANSWER_MS = 3_000;
const CLOSE_MS = 1_000;
const MAX_PRIORITY = 2_000_000;
const JOB_ID = /^o-[\w-]{1,100}$/;

type Producer<B extends IQueueBackend, Connection> = Queue<WakeUp, void, string, WakeUp, void, string, B, Connection>;

/** The job queue on BullMQ, whatever the backend: one BullMQ queue for any worker, and one for each workspace root. */
export class BullmqJobQueue<B extends IQueueBackend, Connection> implements JobQueue {
  readonly #backend: BullmqBackend<B, Connection>;
  readonly #nameOf: (rootId?: string) => string;
  readonly #lockMs: number;
  readonly #workers = new Set<QueueWorker>();
  readonly #producers = new Map<string, Promise<Producer<B, Connection>>>();
  #closing: Promise<void> | null = null;

  constructor(backend: BullmqBackend<B, Connection>, { namespace, lockMs = DEFAULT_LOCK_MS }: QueueOptions) {
    this.#backend = backend;
    queueName(namespace);
    this.#nameOf = (rootId) => queueName(namespace, rootId);
    this.#lockMs = lockMs;
  }

  async enqueue(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) assertJob(job);
    for (const [name, group] of Map.groupBy(jobs, ({ rootId }) => this.#nameOf(rootId))) {
      for (let start = 0; start < group.length; start += BATCH) {
        await this.#ask(name, (producer) => add(producer, group.slice(start, start + BATCH)));
      }
    }
  }

  work(options: WorkOptions): QueueWorker {
    if (this.#closing !== null) throw new Error('the queue is closed');
    if (!(Number.isInteger(options.concurrency) && options.concurrency >= 1))
      throw new RangeError('concurrency is a whole number from 1 on');
    const names = [this.#nameOf(), ...(options.rootId === undefined ? [] : [this.#nameOf(options.rootId)])];
    const place = { backend: this.#backend, lockMs: this.#lockMs, work: options };
    const worker = new JoinedWorker(names.map((name) => new RebuildingWorker({ ...place, queueName: name })));
    this.#workers.add(worker);
    return worker;
  }

  async health(rootIds: readonly string[] = []): Promise<QueueHealth> {
    try {
      const names = [this.#nameOf(), ...rootIds.map(this.#nameOf)];
      const backlogs = await Promise.all(names.map((name) => this.#ask(name, readBacklog)));
      return {
        reachable: true,
        waiting: backlogs.reduce((sum, { waiting }) => sum + waiting, 0),
        oldestWaitMs: Math.max(...backlogs.map(({ oldestWaitMs }) => oldestWaitMs)),
      };
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
    await Promise.all([...this.#producers.values()].map(async (starting) => (await starting.catch(() => null))?.close()));
    await this.#backend.close();
  }

  /** Asks the backend through the queue's producer, and never for longer than a few seconds (Q4). */
  async #ask<T>(name: string, question: (producer: Producer<B, Connection>) => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw new QueueUnavailableError('the queue is closed');
    try {
      return await withDeadline(this.#openProducer(name).then(question), ANSWER_MS);
    } catch (error) {
      throw new QueueUnavailableError(`the queue does not answer: ${describe(error)}`, { cause: error });
    }
  }

  /** BullMQ's producer of the queue; one that failed to start stays failed, so the next call starts another. */
  #openProducer(name: string): Promise<Producer<B, Connection>> {
    const open = this.#producers.get(name);
    if (open) return open;
    const starting = this.#startProducer(name).catch((error: unknown) => {
      this.#producers.delete(name);
      throw error;
    });
    this.#producers.set(name, starting);
    return starting;
  }

  async #startProducer(name: string): Promise<Producer<B, Connection>> {
    await this.#backend.ping();
    const options = { connection: this.#backend.producer, prefix: KEY_PREFIX, defaultJobOptions: JOB_OPTIONS, streams: EVENTS_KEPT };
    const producer: Producer<B, Connection> = new Queue(name, options, this.#backend.createBackend);
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

async function readBacklog<B extends IQueueBackend, Connection>(producer: Producer<B, Connection>) {
  const [counts, next, nextPrioritized] = await Promise.all([
    producer.getJobCounts('wait', 'prioritized'),
    producer.getWaiting(0, 0),
    producer.getPrioritized(0, 0),
  ]);
  const addedAt = [...next, ...nextPrioritized].map((job: BullmqJob) => job.timestamp);
  return {
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
