import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, startFaultProxy, startScript, startTestRedis, waitFor } from '@echelon/testkit';
import { describeWithRedis } from '@echelon/testkit/jest';
import { createPostgresEventBus, createRedisEventBus, type EventBus, type GapReason, type LiveEvent } from './index.js';

interface Backend {
  readonly url: string;
  /** The name of the factory and of its address option, for a program of its own. */
  readonly factory: readonly [string, string];
  open(options: { readonly url: string; readonly namespace: string; readonly heartbeatMs?: number }): EventBus;
  stop(): Promise<void>;
}

async function startPostgres(): Promise<Backend> {
  const database = await createTestDatabase({ empty: true });
  return {
    url: database.url,
    factory: ['createPostgresEventBus', 'connectionString'],
    open: ({ url, ...options }) => createPostgresEventBus({ connectionString: url, ...options }),
    stop: () => database.drop(),
  };
}

async function startRedis(): Promise<Backend> {
  const redis = await startTestRedis();
  return { url: redis.url, factory: ['createRedisEventBus', 'url'], open: createRedisEventBus, stop: () => redis.stop() };
}

describe('event bus on Postgres', () => describeEventBus(startPostgres));
describeWithRedis('event bus on Redis', () => describeEventBus(startRedis));

function describeEventBus(start: () => Promise<Backend>): void {
  let backend: Backend;
  let buses: EventBus[] = [];
  let namespaces = 0;
  let namespace = '';

  const open = (url = backend.url, heartbeatMs = 5_000): EventBus => {
    const bus = backend.open({ url, namespace, heartbeatMs });
    buses.push(bus);
    return bus;
  };

  beforeAll(async () => {
    backend = await start();
  });
  afterAll(() => backend.stop());
  beforeEach(() => {
    namespaces += 1;
    namespace = `spec-${String(namespaces)}`;
  });
  afterEach(async () => {
    await Promise.all(buses.map((bus) => bus.close()));
    buses = [];
  });

  test('an event reaches every subscriber of its topic, in the same and in another bus, exactly as published', async () => {
    const bus = open();
    const here = await collect(bus, 'session.1');
    const there = await collect(open(), 'session.1');
    const event = { topic: 'session.1', payload: JSON.stringify({ text: 'ä “quoted” \u0000 \ud800 👩‍🚀', n: 1.5 }) };
    bus.publish([event]);
    await waitFor('both deliveries', () => here.events.length + there.events.length === 2);
    expect([here.events, there.events]).toEqual([[event], [event]]);
  });

  test('a filter with a star hears every topic with its prefix, one without hears its topic alone', async () => {
    const bus = open();
    const [prefix, topic, all] = await Promise.all([collect(bus, 'session.*'), collect(bus, 'session.1'), collect(bus, '*')]);
    bus.publish(['session.1', 'session.12', 'task.1'].map((name) => event(name)));
    await waitFor('the last event', () => all.events.length === 3);
    expect(topicsOf(prefix.events)).toEqual(['session.1', 'session.12']);
    expect(topicsOf(topic.events)).toEqual(['session.1']);
  });

  test('events of one publisher arrive in order, whether published together or one by one', async () => {
    const bus = open();
    const { events } = await collect(open(), '*');
    const numbers = Array.from({ length: 500 }, (_, index) => index);
    for (const number of numbers) {
      bus.publish([event(`topic.${String(number % 7)}`, number)]);
      if (number % 50 === 0) await nextTurn();
    }
    await waitFor('all events', () => events.length === numbers.length);
    expect(events.map(({ payload }) => Number(payload))).toEqual(numbers);
  });

  test('an event of another process arrives', async () => {
    const { events } = await collect(open(), 'session.1');
    const [factory, address] = backend.factory;
    const program = startScript(`
      import { ${factory} } from '@echelon/messaging';
      const bus = ${factory}({ ${address}: '${backend.url}', namespace: '${namespace}' });
      bus.publish([{ topic: 'session.1', payload: '"from afar"' }]);
      await bus.close();
    `);
    await waitFor('the event', () => events.length === 1);
    expect(events[0]?.payload).toBe('"from afar"');
    expect(await program.exited).toEqual({ code: 0, signal: null });
  });

  test('a payload of 200 KiB arrives whole between its neighbours', async () => {
    const bus = open();
    const { events } = await collect(open(), '*');
    const large = JSON.stringify('long text, kurz: ß '.repeat(10_000));
    bus.publish([event('a', 1), { topic: 'b', payload: large }, event('c', 3)]);
    await waitFor('all events', () => events.length === 3);
    expect(events.map(({ payload }) => payload)).toEqual(['1', large, '3']);
  });

  test('a payload beyond the limit becomes a gap for those who listen to its topic', async () => {
    const bus = open();
    const [concerned, other] = await Promise.all([collect(bus, 'session.1'), collect(bus, 'session.2')]);
    bus.publish([{ topic: 'session.1', payload: JSON.stringify('x'.repeat(256 * 1024)) }, event('session.2')]);
    await waitFor('the gap', () => concerned.gaps.length === 1);
    await waitFor('the neighbour', () => other.events.length === 1);
    expect(concerned.gaps).toEqual(['oversize']);
    expect([concerned.events, other.gaps]).toEqual([[], []]);
  });

  test('a subscriber that has left hears nothing more', async () => {
    const bus = open();
    const left = await collect(bus, 'session.1');
    const stays = await collect(bus, 'session.1');
    left.unsubscribe();
    bus.publish([event('session.1')]);
    await waitFor('the other delivery', () => stays.events.length === 1);
    expect(left.events).toEqual([]);
  });

  test('namespaces do not hear each other', async () => {
    const other = backend.open({ url: backend.url, namespace: 'elsewhere' });
    buses.push(other);
    const bus = open();
    const [foreign, own] = await Promise.all([collect(other, '*'), collect(bus, '*')]);
    bus.publish([event('session.1')]);
    await waitFor('the own delivery', () => own.events.length === 1);
    other.publish([event('session.2')]);
    await waitFor('the foreign delivery', () => foreign.events.length === 1);
    expect([topicsOf(own.events), topicsOf(foreign.events)]).toEqual([['session.1'], ['session.2']]);
  });

  test('a subscriber whose connection broke hears a gap when it is back, then events again', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(backend.url).port) });
    const bus = open(proxy.through(backend.url));
    const { events, gaps } = await collect(bus, 'session.1');
    let reconnects = 0;
    bus.onReconnect(() => (reconnects += 1));
    proxy.cut();
    proxy.resume();
    await waitFor('the gap', () => gaps.length > 0);
    open().publish([event('session.1')]);
    await waitFor('an event', () => events.length === 1);
    expect(new Set(gaps)).toEqual(new Set(['reconnected']));
    expect(reconnects).toBe(gaps.length);
    await bus.close();
    await proxy.close();
  });

  test('a subscription during an outage resolves, and its gap comes with the backend', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(backend.url).port) });
    proxy.cut();
    const bus = open(proxy.through(backend.url));
    const { gaps } = await collect(bus, 'session.1');
    expect(gaps).toEqual([]);
    proxy.resume();
    await waitFor('the gap', () => gaps.length > 0);
    await bus.close();
    await proxy.close();
  });

  test('what a publisher loses in an outage becomes a gap for everybody', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(backend.url).port) });
    const publisher = open(proxy.through(backend.url));
    const { events, gaps } = await collect(open(), 'session.1');
    publisher.publish([event('session.1', 1)]);
    await waitFor('the first event', () => events.length === 1);
    proxy.cut();
    publisher.publish([event('session.1', 2)]);
    proxy.resume();
    await waitFor('the gap', () => gaps.length > 0);
    publisher.publish([event('session.1', 3)]);
    await waitFor('the last event', () => events.at(-1)?.payload === '3');
    expect(new Set(gaps)).toEqual(new Set(['publisher_reconnected']));
    expect(events.map(({ payload }) => payload)).toEqual(['1', '3']);
    await publisher.close();
    await proxy.close();
  });

  test('a connection that hangs is given up and replaced although nobody publishes', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(backend.url).port) });
    const bus = open(proxy.through(backend.url), 50);
    const { gaps } = await collect(bus, 'session.1');
    proxy.stall();
    let turns = 0;
    await waitFor('several heartbeats', () => (turns += 1) > 30);
    proxy.resume();
    await waitFor('the gap', () => gaps.length > 0);
    await bus.close();
    await proxy.close();
  });

  test('what is no topic and no filter is refused', async () => {
    const bus = open();
    expect(() => bus.publish([event('session 1')])).toThrow(RangeError);
    await expect(collect(bus, 'ses*sion')).rejects.toThrow(RangeError);
  });
}

const event = (topic: string, value: unknown = null): LiveEvent => ({ topic, payload: JSON.stringify(value) });

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const topicsOf = (events: readonly LiveEvent[]) => events.map(({ topic }) => topic);

/** A subscription that notes what it hears. */
async function collect(bus: EventBus, filter: string) {
  const events: LiveEvent[] = [];
  const gaps: GapReason[] = [];
  const unsubscribe = await bus.subscribe(filter, { onEvent: (heard) => events.push(heard), onGap: (reason) => gaps.push(reason) });
  return { events, gaps, unsubscribe };
}
