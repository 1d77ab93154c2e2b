import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { settlesWithin } from './deadline.js';
import { type EventTransport, reconnectDelay, type TransportHandlers } from './event-transport.js';
import { cutIntoPieces, PieceCollector } from './notification-pieces.js';

const CONNECT_MS = 3_000;
const END_MS = 1_000;

export interface PostgresTransportOptions {
  readonly connectionString: string;
  readonly sessionOptions: string | undefined;
  readonly channel: string;
  readonly heartbeatMs: number;
  readonly handlers: TransportHandlers;
}

/** Sends and hears notifications over one connection, which it brings back for as long as it is open. */
export class PostgresTransport implements EventTransport {
  readonly #options: PostgresTransportOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  readonly #firstAttempt = Promise.withResolvers<void>();
  #client: pg.Client | null = null;

  constructor(options: PostgresTransportOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  async send(text: string): Promise<void> {
    await this.listening();
    if (this.#client === null) throw new Error('no connection to Postgres');
    await this.#client.query('select pg_notify($1, piece) from unnest($2::text[]) as piece', [this.#options.channel, cutIntoPieces(text)]);
  }

  listening(): Promise<void> {
    return this.#firstAttempt.promise;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let attempt = 0;
    while (!signal.aborted) {
      const client = this.#createClient();
      try {
        await this.#listen(client);
        if (attempt > 0) this.#options.handlers.onReconnect();
        attempt = 0;
        this.#firstAttempt.resolve();
        await this.#keepAlive(client);
      } catch {
        // Lost, or not there yet: what follows is the same.
      } finally {
        this.#client = null;
        await settlesWithin(client.end(), END_MS);
      }
      this.#firstAttempt.resolve();
      attempt += 1;
      await sleep(reconnectDelay(attempt), undefined, { signal }).catch(() => undefined);
    }
  }

  #createClient(): pg.Client {
    const client = new pg.Client({
      connectionString: this.#options.connectionString,
      options: this.#options.sessionOptions,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: this.#options.heartbeatMs,
      keepAlive: true,
      application_name: 'echelon-events',
    });
    const pieces = new PieceCollector();
    client.on('notification', ({ processId, payload = '' }) => {
      const text = pieces.add(processId, payload);
      if (text !== undefined) this.#options.handlers.onText(text);
    });
    // 'end' follows and is what we act on.
    client.on('error', () => undefined);
    return client;
  }

  async #listen(client: pg.Client): Promise<void> {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(this.#options.channel)}`);
    this.#client = client;
  }

  /** Returns when the connection is closed or this transport is; rejects when the connection does not answer. */
  async #keepAlive(client: pg.Client): Promise<void> {
    const ended = once(client, 'end', { signal: this.#closing.signal }).catch(() => undefined);
    while (!(await settlesWithin(ended, this.#options.heartbeatMs))) await client.query('select 1');
  }
}
