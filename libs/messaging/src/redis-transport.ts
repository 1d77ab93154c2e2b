import { Redis } from 'ioredis';
import { withDeadline } from './deadline.js';
import { type EventTransport, type TransportHandlers } from './event-transport.js';
import { failFastOptions, steadyOptions, waitUntilReady } from './redis-connection.js';

export interface RedisTransportOptions {
  readonly url: string;
  readonly channel: string;
  readonly heartbeatMs: number;
  readonly handlers: TransportHandlers;
}

/** Publishes over one connection that fails fast and listens on another that ioredis brings back. */
export class RedisTransport implements EventTransport {
  readonly #options: RedisTransportOptions;
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #firstAttempt = Promise.withResolvers<void>();
  #hasFailed = false;

  constructor(options: RedisTransportOptions) {
    this.#options = options;
    this.#publisher = new Redis(options.url, failFastOptions).on('error', () => undefined);
    this.#subscriber = new Redis(options.url, { ...steadyOptions, autoResubscribe: false });
    this.#subscriber.on('ready', () => void this.#listen());
    this.#subscriber.on('close', () => this.#failed());
    this.#subscriber.on('error', () => undefined);
    this.#subscriber.on('message', (_channel: string, text: string) => options.handlers.onText(text));
    this.#heartbeat = setInterval(() => void this.#beat(), options.heartbeatMs);
  }

  async send(text: string): Promise<void> {
    await waitUntilReady(this.#publisher);
    await this.#publisher.publish(this.#options.channel, text);
  }

  listening(): Promise<void> {
    return this.#firstAttempt.promise;
  }

  close(): Promise<void> {
    clearInterval(this.#heartbeat);
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
    this.#firstAttempt.resolve();
    return Promise.resolve();
  }

  /** A rejection means that the connection is lost again: 'close' and another 'ready' follow. */
  async #listen(): Promise<void> {
    try {
      await this.#subscriber.subscribe(this.#options.channel);
    } catch {
      return;
    }
    if (this.#hasFailed) this.#options.handlers.onReconnect();
    this.#hasFailed = false;
    this.#firstAttempt.resolve();
  }

  #failed(): void {
    this.#hasFailed = true;
    this.#firstAttempt.resolve();
  }

  async #beat(): Promise<void> {
    if (this.#subscriber.status !== 'ready') return;
    try {
      await withDeadline(this.#subscriber.ping(), this.#options.heartbeatMs);
    } catch {
      this.#subscriber.disconnect(true);
    }
  }
}
