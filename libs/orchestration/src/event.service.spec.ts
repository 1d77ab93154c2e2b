import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DurableEvent } from '@echelon/contracts';
import { createPostgresEventBus, type EventBus } from '@echelon/messaging';
import { createPool, Database, newId } from '@echelon/persistence';
import { createTestDatabase, type TestDatabase, waitFor } from '@echelon/testkit';
import { accepted } from '../../../test/support/world.js';
import type { AgentActor, OperatorActor } from './actor.js';
import { type EventNotice, EventService, type ReadEvents } from './event.service.js';
import { liveTopic } from './event-topics.js';
import { Sequencer } from './sequencer.js';
import { Transactions } from './unit-of-work.js';

const OPERATOR: OperatorActor = { kind: 'operator', tokenId: newId(), operatorId: newId(), name: 'Ada' };

let testDatabase: TestDatabase;
let database: Database;
let bus: EventBus;
let sequencer: Sequencer;
let transactions: Transactions;
let events: EventService;
let workspaceId: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database(createPool(testDatabase.url, { max: 16 }));
  bus = createPostgresEventBus({ connectionString: testDatabase.url, namespace: 'spec' });
  sequencer = new Sequencer(database, bus, (error) => {
    throw error;
  });
  transactions = new Transactions(database, { committed: () => undefined });
  events = new EventService(database, bus);
  workspaceId = await workspace();
});

afterAll(async () => {
  await events.close();
  await sequencer.close();
  await bus.close();
  await database.close();
  await testDatabase.drop();
});

async function workspace(): Promise<string> {
  const id = newId();
  await database.query('INSERT INTO workspace (id, name) VALUES ($1, $2)', [id, id]);
  return id;
}

interface Told {
  readonly workspaceId?: string;
  readonly taskId?: string | null;
}

/** Commits an event; `n` tells it from others. */
function tell(n: number, { workspaceId: where = workspaceId, taskId = null }: Told = {}): Promise<void> {
  return transactions.run((unit) => unit.tell({ workspaceId: where, type: 'task.updated', taskId, sessionId: null, data: { n } }));
}

async function read(query: Partial<ReadEvents> & { readonly after: string | null }, actor: OperatorActor | AgentActor = OPERATOR) {
  return accepted(await events.read(actor, { limit: 100, ...query }));
}

const numbers = (page: { readonly events: readonly DurableEvent[] }) => page.events.map(({ data }) => data['n']);

describe('events', () => {
  test('are read after their stamp, in the order of their positions, page by page [K15]', async () => {
    const start = await events.head();
    for (const n of [1, 2, 3, 4, 5]) await tell(n);
    expect(await read({ after: start })).toEqual({ events: [], cursor: start, reset: false });
    await sequencer.stampAll();
    const first = await read({ after: start, limit: 2 });
    const second = await read({ after: first.cursor, limit: 2 });
    const third = await read({ after: second.cursor, limit: 2 });
    expect([first, second, third].map(numbers)).toEqual([[1, 2], [3, 4], [5]]);
    expect(third.cursor).toBe(await events.head());
    expect(first.events[0]).toMatchObject({
      type: 'task.updated',
      workspace_id: workspaceId,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(first.events.map(({ position }) => position).at(-1)).toBe(first.cursor);
  });

  test('of others are filtered out, and the cursor passes them', async () => {
    const other = await workspace();
    const [task, session] = [newId(), newId()];
    await insertTask(task, session);
    const start = await events.head();
    await tell(1, { workspaceId: other });
    await tell(2, { taskId: task });
    await transactions.run((unit) => unit.tell({ workspaceId, type: 'queue.changed', taskId: null, sessionId: session, data: { n: 3 } }));
    await tell(4);
    await sequencer.stampAll();
    expect(numbers(await read({ after: start }))).toEqual([1, 2, 3, 4]);
    expect(numbers(await read({ after: start, workspace_id: other }))).toEqual([1]);
    const ofTask = await read({ after: start, task_id: task });
    expect(numbers(ofTask)).toEqual([2, 3]);
    expect(ofTask.cursor).toBe(await events.head());
    const agent: AgentActor = { kind: 'agent', workspaceId: other, taskId: newId(), sessionId: newId(), turnId: null, callId: null };
    expect(numbers(await read({ after: start }, agent))).toEqual([1]);
    expect(await events.read(agent, { after: start, workspace_id: workspaceId, limit: 5 })).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('after an unknown or expired cursor are a reset to the head [K15]', async () => {
    await tell(1);
    await tell(2);
    await sequencer.stampAll();
    const head = await events.head();
    await database.query(`INSERT INTO setting (key, value) VALUES ('events.oldest_position', $1)`, [head]);
    for (const after of ['', 'x', '-1', '9'.repeat(30), String(BigInt(head) + 1n), String(BigInt(head) - 2n)])
      expect(await read({ after })).toEqual({ events: [], cursor: head, reset: true });
    expect(await read({ after: String(BigInt(head) - 1n) })).toMatchObject({ reset: false, cursor: head });
    await database.query(`DELETE FROM setting WHERE key = 'events.oldest_position'`);
  });

  test('reach a reader that follows exactly once each, whatever commits when [K15]', async () => {
    let cursor = await events.head();
    const seen: unknown[] = [];
    const writers = Promise.all(Array.from({ length: 12 }, (_, writer) => writeSlowly(writer)));
    let written = false;
    void writers.then(() => (written = true));
    for (let last = false; !last;) {
      last = written;
      await Promise.all([sequencer.stampAll(), sequencer.stampAll()]);
      const page = await read({ after: cursor, limit: 7 });
      seen.push(...numbers(page));
      last &&= page.events.length === 0;
      cursor = page.cursor;
    }
    await writers;
    expect(seen.toSorted()).toEqual(Array.from({ length: 60 }, (_, n) => n).toSorted());
  });
});

/** Five transactions whose events are written before other transactions' and committed after them. */
async function writeSlowly(writer: number): Promise<void> {
  for (let n = 0; n < 5; n++)
    await transactions.run(async (unit) => {
      await unit.tell({ workspaceId, type: 'task.updated', taskId: null, sessionId: null, data: { n: writer * 5 + n } });
      await unit.query(`SELECT pg_sleep($1)`, [((writer * 7 + n * 3) % 10) / 1_000]);
    });
}

describe('a subscriber', () => {
  test('hears that there is more, and what streams live, until it leaves', async () => {
    const [heard, gone]: [EventNotice[], EventNotice[]] = [[], []];
    const leave = events.subscribe((notice) => heard.push(notice));
    const leaveAtOnce = events.subscribe((notice) => gone.push(notice));
    leaveAtOnce();
    await waitFor('the bus to agree', () => heard.length > 0);
    heard.length = 0;
    await tell(1);
    await sequencer.stampAll();
    await waitFor('the news', () => heard.some(({ kind }) => kind === 'advanced'));
    const session = newId();
    const event = { type: 'text-delta', workspace_id: workspaceId, task_id: newId(), session_id: session, turn_id: newId() } as const;
    const delta = { ...event, message_id: null, offset: 0, text: 'Hel' };
    bus.publish([{ topic: liveTopic(session), payload: JSON.stringify(delta) }]);
    await waitFor('the delta', () => heard.some(({ kind }) => kind === 'live'));
    expect(heard.filter(({ kind }) => kind === 'live')).toEqual([{ kind: 'live', event: delta }]);
    leave();
    expect(gone).toEqual([]);
  });
});

async function insertTask(task: string, session: string): Promise<void> {
  const profile = newId();
  await database.query(
    `WITH p AS (INSERT INTO agent_profile (id, workspace_id, name, runtime, provider, model) VALUES ($1, $2, 'Default', 'loop', 'p', 'm') RETURNING id),
       t AS (INSERT INTO task (id, workspace_id, title, prompt, state, profile_id, folder) SELECT $3, $2, 't', 'p', 'ready', id, 'f' FROM p)
     INSERT INTO session (id, workspace_id, task_id, runtime, profile_id) SELECT $4, $2, $3, 'loop', id FROM p`,
    [profile, workspaceId, task, session],
  );
}
