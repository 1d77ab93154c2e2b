import { setTimeout as sleep } from 'node:timers/promises';
import { settlesWithin } from './deadline.js';
import { decodeBatch, encodeBatch } from './event-batch.js';
import type { EventBus, EventListener, LiveEvent, Unsubscribe } from './event-bus.js';
import type { EventTransport, OpenTransport } from './event-transport.js';
import { OutboundEvents } from './outbound-events.js';
import { assertTopic, Subscriptions } from './subscriptions.js';

const SEND_INTERVAL_MS = 8;
const RETRY_MS = 250;
const LAST_SEND_MS = 1_000;

/** The event bus, whatever carries its batches. */
export class BatchedEventBus implements EventBus {
  readonly #transport: EventTransport;
  readonly #subscriptions = new Subscriptions();
  readonly #reconnectListeners = new Set<() => void>();
  readonly #outbound = new OutboundEvents();
  #sending: Promise<void> | null = null;
  #closed = false;

  constructor(openTransport: OpenTransport) {
    this.#transport = openTransport({ onText: (text) => this.#receive(text), onReconnect: () => this.#reconnected() });
  }

  publish(events: readonly LiveEvent[]): void {
    if (this.#closed) return;
    for (const { topic } of events) assertTopic(topic);
    for (const event of events) this.#outbound.add(event);
    this.#sending ??= this.#send().finally(() => (this.#sending = null));
  }

  async subscribe(filter: string, listener: EventListener): Promise<Unsubscribe> {
    const unsubscribe = this.#subscriptions.add(filter, listener);
    await this.#transport.listening();
    return unsubscribe;
  }

  onReconnect(listener: () => void): Unsubscribe {
    this.#reconnectListeners.add(listener);
    return () => this.#reconnectListeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#sending !== null) await settlesWithin(this.#sending, LAST_SEND_MS);
    this.#subscriptions.clear();
    this.#reconnectListeners.clear();
    await this.#transport.close();
  }

  /** Sends whatever has gathered, at once and then every few milliseconds, until there is nothing left. */
  async #send(): Promise<void> {
    await Promise.resolve();
    while (!this.#outbound.isEmpty()) {
      try {
        await this.#transport.send(encodeBatch(this.#outbound.take()));
        await sleep(SEND_INTERVAL_MS);
      } catch {
        if (this.#closed) return;
        // The lost batch is not sent again, because it may have arrived; its subscribers read again instead (E2).
        this.#outbound.addGap({ reason: 'publisher_reconnected' });
        await sleep(RETRY_MS);
      }
    }
  }

  #receive(text: string): void {
    const { events, gaps } = decodeBatch(text);
    for (const event of events) this.#subscriptions.deliver(event);
    for (const { reason, topic } of gaps) this.#subscriptions.tellGap(reason, topic);
  }

  #reconnected(): void {
    this.#subscriptions.tellGap('reconnected');
    for (const listener of [...this.#reconnectListeners]) listener();
  }
}
