import {
  assertSchemaCompatibility,
  createPostgresBackend,
  LATEST_SCHEMA_VERSION,
  type PostgresConnectionOptions,
  type PgPool,
  type PostgresQueueBackend,
  runMigrations,
} from 'bullmq';
import pg from 'pg';
import type { BullmqBackend, QueueOptions } from './bullmq-backend.js';
import { BullmqJobQueue } from './bullmq-job-queue.js';
import { settlesWithin } from './deadline.js';
import type { JobQueue } from './job-queue.js';

export interface PostgresJobQueueOptions extends QueueOptions {
  /** No PgBouncer in transaction mode: a worker listens on a connection of its own. */
  readonly connectionString: string;
  /** Whose tables they are and who raises them; by default who connects. */
  readonly ownerConnectionString?: string | undefined;
  /** Settings of every connection that works, such as its role; by default the login's own. */
  readonly sessionOptions?: string | undefined;
  /** Lets the role of `sessionOptions` use the schema's tables, on a connection of their owner. Asked at each start. */
  readonly grant?: ((owner: pg.Client, schema: string) => Promise<void>) | undefined;
}

const CONNECT_MS = 2_000;
const QUERY_MS = 5_000;
const PRODUCER_CONNECTIONS = 2;
/** Every worker listens on one of them, and so does a replaced one until its handlers have ended. */
const CONSUMER_CONNECTIONS = 10;
/** BullMQ looks for its tables in this schema when the pool is ours. */
const SCHEMA = 'bullmq';
const SEARCH_PATH = `-c search_path=${SCHEMA},public`;

/**
 * The job queue in the schema `bullmq` of a Postgres database, which it creates or raises to this BullMQ's version where needed;
 * as its owner. Opens at most twelve connections that stay, none before the first use.
 */
export function createPostgresJobQueue(options: PostgresJobQueueOptions): JobQueue {
  return new BullmqJobQueue(new PostgresBackend(options), options);
}

/** BullMQ on Postgres. */
export class PostgresBackend implements BullmqBackend<PostgresQueueBackend, PostgresConnectionOptions> {
  readonly createBackend: typeof createPostgresBackend = createPostgresBackend;
  readonly producer: PgPool;
  readonly consumer: PgPool;
  readonly #pools: readonly pg.Pool[];
  readonly #pool: pg.Pool;
  readonly #options: PostgresJobQueueOptions;
  #prepared: Promise<void> | null = null;

  constructor(options: PostgresJobQueueOptions) {
    const producer = openPool(options, PRODUCER_CONNECTIONS, CONNECT_MS);
    const consumer = openPool(options, CONSUMER_CONNECTIONS, QUERY_MS);
    this.#options = options;
    this.#pool = producer;
    this.#pools = [consumer, producer];
    this.producer = asBullmqPool(producer);
    this.consumer = asBullmqPool(consumer);
  }

  async ping(): Promise<void> {
    this.#prepared ??= this.#prepare().catch((error: unknown) => {
      this.#prepared = null;
      throw error;
    });
    await this.#prepared;
    await this.#pool.query('select 1');
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()));
  }

  /** On a connection without a time limit: another process may hold the migration's lock for a while. */
  async #prepare(): Promise<void> {
    const { connectionString, ownerConnectionString = connectionString, grant } = this.#options;
    const client = new pg.Client({
      connectionString: ownerConnectionString,
      connectionTimeoutMillis: CONNECT_MS,
      options: '-c TimeZone=UTC',
      application_name: 'echelon-queue-migrate',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      if ((await findSchemaVersion(client)) < LATEST_SCHEMA_VERSION) await runMigrations(client);
      await grant?.(client, SCHEMA);
    } finally {
      await settlesWithin(client.end(), CONNECT_MS);
    }
  }
}

/** BullMQ's schema version in this database, 0 without one; rejects when it belongs to a newer, incompatible BullMQ. */
async function findSchemaVersion(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ exists: boolean }>(`select to_regclass('bullmq.migration') is not null as exists`);
  return rows[0]?.exists === true ? assertSchemaCompatibility(client) : 0;
}

function openPool(
  { connectionString, sessionOptions = '' }: PostgresJobQueueOptions,
  max: number,
  connectionTimeoutMillis: number,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis,
    query_timeout: QUERY_MS,
    keepAlive: true,
    options: `${sessionOptions} ${SEARCH_PATH}`,
    application_name: 'echelon-queue',
  });
  // The server's end of an idle connection may go away at any time; the next query says so.
  pool.on('error', () => undefined);
  // BullMQ adds a listener per worker and producer.
  pool.setMaxListeners(0);
  return pool;
}

/** node-postgres types its events as one conditional type, BullMQ as overloads: the same functions, which TypeScript cannot compare. */
const asBullmqPool = (pool: pg.Pool): PgPool => pool as unknown as PgPool;
