import type { EventListener, GapReason, LiveEvent, Unsubscribe } from './event-bus.js';

const TOPIC = /^[\w.-]{1,200}$/;
const FILTER = /^(?:[\w.-]{1,200}|[\w.-]{0,200}\*)$/;

/** Throws a RangeError for a topic that the bus cannot carry. */
export function assertTopic(topic: string): void {
  if (!TOPIC.test(topic)) throw new RangeError(`not a topic: ${topic}`);
}

/** Who listens to what in this process. Topics are found by name, prefixes by comparing. */
export class Subscriptions {
  readonly #topics = new Map<string, Set<EventListener>>();
  readonly #prefixes = new Map<string, Set<EventListener>>();

  /** Throws a RangeError for a filter that is none. */
  add(filter: string, listener: EventListener): Unsubscribe {
    if (!FILTER.test(filter)) throw new RangeError(`not a topic filter: ${filter}`);
    // One subscription is one object: the same listener may subscribe twice and leave once.
    const own = { onEvent: listener.onEvent, onGap: listener.onGap };
    return filter.endsWith('*') ? insert(this.#prefixes, filter.slice(0, -1), own) : insert(this.#topics, filter, own);
  }

  deliver(event: LiveEvent): void {
    for (const listener of this.#listenersOf(event.topic)) listener.onEvent(event);
  }

  /** Tells those who listen to the topic, or everyone when there is none. */
  tellGap(reason: GapReason, topic?: string): void {
    for (const listener of topic === undefined ? this.#all() : this.#listenersOf(topic)) listener.onGap(reason);
  }

  clear(): void {
    this.#topics.clear();
    this.#prefixes.clear();
  }

  /** A copy, because a listener may subscribe or leave while it is called. */
  #listenersOf(topic: string): readonly EventListener[] {
    const found = [...(this.#topics.get(topic) ?? [])];
    for (const [prefix, listeners] of this.#prefixes) if (topic.startsWith(prefix)) found.push(...listeners);
    return found;
  }

  #all(): readonly EventListener[] {
    return [...this.#topics.values(), ...this.#prefixes.values()].flatMap((listeners) => [...listeners]);
  }
}

function insert(where: Map<string, Set<EventListener>>, key: string, listener: EventListener): Unsubscribe {
  const listeners = where.get(key) ?? new Set();
  where.set(key, listeners.add(listener));
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && where.get(key) === listeners) where.delete(key);
  };
}
