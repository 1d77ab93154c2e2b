import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { EventBus, EventListener, LiveEvent } from '@echelon/messaging';
import type { Database } from '@echelon/persistence';
import { waitFor } from '@echelon/testkit';
import { type TestTask, World } from '../../../test/support/world.js';
import { AttachedService } from './attached.service.js';

const SESSIONS = 20;
const CALLS_OF_EACH = 10;

/** A bus of one process. */
class Bus implements Pick<EventBus, 'subscribe'> {
  readonly listeners = new Set<EventListener>();

  subscribe(_filter: string, listener: EventListener): Promise<() => void> {
    this.listeners.add(listener);
    return Promise.resolve(() => void this.listeners.delete(listener));
  }

  tell(event: LiveEvent): void {
    for (const listener of this.listeners) listener.onEvent(event);
  }
}

let world: World;
let tasks: readonly TestTask[];
let statements = 0;
let bus: Bus;
let attached: AttachedService;

beforeAll(async () => {
  world = await World.open();
  tasks = await Promise.all(Array.from({ length: SESSIONS }, () => world.task({ runtime: 'external' })));
});
afterAll(() => world.close());
beforeEach(() => {
  bus = new Bus();
  const query: Database['query'] = (text, values) => {
    statements += 1;
    return world.database.query(text, values);
  };
  const counting = Object.create(world.database, { query: { value: query } }) as Database;
  attached = new AttachedService(counting, world.transactions, bus as unknown as EventBus);
});

function eventOf(task: TestTask): LiveEvent {
  return { topic: 'x', payload: JSON.stringify({ type: 'session.updated', task_id: task.id, session_id: task.sessionId, data: {} }) };
}

/** Two hundred calls that wait, once each has looked and found nothing. */
async function waitAll(signals: readonly AbortController[]): Promise<{ readonly calls: readonly Promise<unknown>[] }> {
  statements = 0;
  const calls = signals.map(({ signal }, index) => {
    const actor = world.agent(tasks[index % SESSIONS] ?? { id: '', sessionId: '' });
    return attached.waitForMessage(actor, { finishedTurnId: null, timeoutMs: 600_000, signal });
  });
  await quiet(3 * calls.length);
  return { calls };
}

/** Every call has finished its look: nothing is asked of the database any more. */
async function quiet(expected: number): Promise<void> {
  await waitFor('the statements', () => statements >= expected);
  for (let before = -1; before !== statements;) {
    before = statements;
    await world.database.query('SELECT 1');
  }
}

describe('two hundred calls that wait', () => {
  test('cost nothing when others’ events come, and one look each when many of their own come at once; they leave nothing behind', async () => {
    const signals = Array.from({ length: SESSIONS * CALLS_OF_EACH }, () => new AbortController());
    const { calls } = await waitAll(signals);

    statements = 0;
    const stranger = await world.task();
    for (let n = 0; n < 50; n++) bus.tell(eventOf(stranger));
    await quiet(0);
    expect(statements).toBe(0);

    for (let n = 0; n < 50; n++) bus.tell(eventOf(tasks[0] ?? stranger));
    await quiet(2 * CALLS_OF_EACH);
    expect(statements).toBe(2 * CALLS_OF_EACH);

    const listeners = () => signals.map(({ signal }) => getEventListeners(signal, 'abort').length);
    expect(new Set(listeners())).toEqual(new Set([1]));
    for (const controller of signals) controller.abort();
    expect(new Set((await Promise.all(calls)).map((outcome) => JSON.stringify(outcome)))).toEqual(new Set(['{"message":null}']));
    expect(new Set(listeners())).toEqual(new Set([0]));
    expect(bus.listeners.size).toBe(0);
  });

  test('one whose time is over, and one that is refused, leave nothing behind', async () => {
    const [task = { id: '', sessionId: '' }] = tasks;
    const { signal } = new AbortController();
    expect(await attached.waitForMessage(world.agent(task), { finishedTurnId: null, timeoutMs: 0, signal })).toEqual({ message: null });
    const driven = world.agent(await world.task());
    expect(await attached.waitForMessage(driven, { finishedTurnId: null, timeoutMs: 600_000, signal })).toMatchObject({
      code: 'TOOL_NOT_OFFERED',
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(bus.listeners.size).toBe(0);
  });
});
