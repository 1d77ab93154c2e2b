import { setTimeout as sleep } from 'node:timers/promises';
import { type BackendFactory, type IQueueBackend, type Job as BullmqJob, type JobJson, type JobProgress, Worker } from 'bullmq';
import { KEY_PREFIX, type WakeUp } from './bullmq-backend.js';

/** How often an idle worker asks for a job although nothing announced one: the sign of life behind `lastFetchedAt`. */
const IDLE_FETCH_SECONDS = 2;
/** Pause after a failed fetch; BullMQ itself waits 15 s after a refused connection and not at all after other failures. */
const FETCH_RETRY_MS = 500;
/** A job that came back this often is no mishap; the sweep announces its session anew anyway (K10). */
const MAX_STALLED_COUNT = 1_000;

export interface FetcherOptions<Connection> {
  readonly queueName: string;
  readonly connection: Connection;
  readonly concurrency: number;
  readonly lockMs: number;
  readonly process: (job: BullmqJob<WakeUp>) => Promise<void>;
  readonly onFetched: () => void;
  readonly onError: (error: Error) => void;
}

type FetchedJob = BullmqJob<WakeUp, void>;

/** BullMQ's worker, which tells when it fetched and fetches nothing once it is paused or closing. */
export class BullmqFetcher<B extends IQueueBackend, Connection> extends Worker<WakeUp, void, string, B, JobProgress, Connection> {
  readonly #onFetched: () => void;

  constructor(options: FetcherOptions<Connection>, createBackend: BackendFactory<B, Connection>) {
    const { queueName, connection, concurrency, lockMs, process, onFetched, onError } = options;
    super(
      queueName,
      process,
      {
        connection,
        concurrency,
        prefix: KEY_PREFIX,
        lockDuration: lockMs,
        stalledInterval: lockMs / 2,
        maxStalledCount: MAX_STALLED_COUNT,
        drainDelay: IDLE_FETCH_SECONDS,
        runRetryDelay: FETCH_RETRY_MS,
        autorun: false,
      },
      createBackend,
    );
    this.#onFetched = onFetched;
    this.on('error', onError);
  }

  protected override async moveToActive(token: string, name?: string): Promise<FetchedJob> {
    if (this.paused || this.closing) return super.nextJobFromJobData();
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await sleep(FETCH_RETRY_MS);
      throw error;
    }
  }

  /** Every fetch ends here, the one that BullMQ joins to a completion too. */
  protected override nextJobFromJobData(jobData?: JobJson, jobId?: string, token?: string): Promise<FetchedJob> {
    this.#onFetched();
    return super.nextJobFromJobData(jobData, jobId, token);
  }
}
