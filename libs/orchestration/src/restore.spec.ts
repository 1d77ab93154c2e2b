import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { insertMessage, listForgotten } from '@echelon/persistence';
import { createPostgresEventBus, type EventBus } from '@echelon/messaging';
import { answer, readQuestion, type WaitingChild, waitingChild } from '../../../test/support/waiting-child.js';
import { findViolations } from '../../../test/support/invariants.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { EventService } from './event.service.js';
import { serializeParts } from './message-content.js';
import { restore } from './restore.js';
import { Sequencer } from './sequencer.js';
import { TokenService } from './token.service.js';

let world: World;
let tokens: TokenService;
let bus: EventBus;
let events: EventService;
let sequencer: Sequencer;

beforeAll(async () => {
  world = await World.open();
  tokens = new TokenService(world.database, world.transactions);
  bus = createPostgresEventBus({ connectionString: world.url, namespace: 'spec' });
  events = new EventService(world.database, bus);
  sequencer = new Sequencer(world.database, bus, () => undefined);
});
afterAll(async () => {
  await sequencer.close();
  await events.close();
  await bus.close();
  await world.close();
});

const run = () => restore(world.database, world.transactions, () => Promise.resolve());

describe('a restored database', () => {
  let running: TestTask;
  let waiting: WaitingChild;
  let secret: string;
  let cursor: string;
  let restored: Awaited<ReturnType<typeof run>>;

  beforeAll(async () => {
    secret = (await tokens.bootstrapOperator('ada'))!.secret;
    waiting = await waitingChild(world);
    running = await world.task();
    const { turn } = await world.openTurn(running.sessionId);
    await world.prompt(running.sessionId, 'And then?');
    const call = { type: 'tool_call', call_id: 'call-9', name: 'run_command', arguments: '{}' } as const;
    const response = { sessionId: running.sessionId, turnId: turn.id, type: 'response', role: 'assistant' } as const;
    await world.run((unit) => insertMessage(unit, { ...response, content: serializeParts([call]) }));
    await world.rows(
      `INSERT INTO tool_call (id, session_id, turn_id, round, index, call_id, name, arguments, state, effect)
       SELECT gen_random_uuid(), session_id, id, 1, 0, 'call-9', 'run_command', '{}', 'intent', 'unsafe' FROM turn WHERE id = $1`,
      [turn.id],
    );
    await sequencer.stampAll();
    cursor = await events.head();
    restored = await run();
  });

  test('has interrupted what ran, with its open effects unknown, and keeps what waits [O15]', async () => {
    expect(restored).toMatchObject({ interrupted_turns: 1, revoked_tokens: 1 });
    expect(await world.rows('SELECT status, outcome FROM turn WHERE session_id = $1', [running.sessionId])).toEqual([
      { status: 'finished', outcome: 'interrupted' },
    ]);
    expect(await world.rows(`SELECT state FROM tool_call WHERE call_id = 'call-9'`)).toEqual([{ state: 'unknown' }]);
    expect(await readQuestion(world, waiting.questionId)).toMatchObject({ status: 'pending' });
  });

  test('has no lease, and epochs that no process of the old time holds [O14]', async () => {
    expect(await world.rows('SELECT id FROM session WHERE lease_owner IS NOT NULL')).toEqual([]);
    expect(await world.sessionRow(running.sessionId)).toMatchObject({
      lease_epoch: '2',
      state: 'idle',
      runnable: true,
      announced_at: expect.any(Date),
    });
  });

  test('announces once what can run, so that no wake-up counts as lost', async () => {
    const runnable = await world.rows('SELECT id AS session_id FROM session WHERE runnable ORDER BY id');
    expect(runnable).toContainEqual({ session_id: running.sessionId });
    expect(await world.rows('SELECT session_id FROM outbox ORDER BY session_id')).toEqual(runnable);
    expect(await listForgotten(world.database, 30_000, 10)).toEqual([]);
  });

  test('knows no token of the old time, and a fresh one of the operator [O14]', async () => {
    expect(await tokens.authenticate(secret)).toBeNull();
    expect(await tokens.authenticate(restored.token!)).toMatchObject({ actor: { kind: 'operator', name: 'ada' } });
  });

  test('resets cursors of the old time, those that it never gave too, and reads on from its own [O16]', async () => {
    for (const old of [cursor, String(BigInt(cursor) + 50n)])
      expect(await events.read(world.operator, { after: old, limit: 10 })).toMatchObject({ events: [], reset: true });
    const head = await events.head();
    await world.prompt(running.sessionId, 'One more.');
    await world.claim(running.sessionId);
    await sequencer.stampAll();
    const read = accepted(await events.read(world.operator, { after: head, limit: 100 }));
    expect(read).toMatchObject({ reset: false });
    expect(read.events.length).toBeGreaterThan(0);
  });

  test('goes on: the answer arrives once, and nothing is offended', async () => {
    expect(accepted(await answer(world, waiting, world.agent(waiting.parent))).status).toBe('sent');
    const claimed = await world.claim(waiting.child.sessionId);
    await world.endTurn(claimed);
    const offended = await findViolations(world.database);
    expect(Object.keys(offended).filter((name) => name !== 'no session has work that nobody does')).toEqual([]);
  });

  test('is left as it is when others may have started meanwhile', async () => {
    const lost = restore(world.database, world.transactions, () => Promise.reject(new Error('not alone')));
    await expect(lost).rejects.toThrow('not alone');
    expect(await tokens.authenticate(restored.token!)).not.toBeNull();
    expect(await world.rows(`SELECT action FROM audit WHERE action = 'deployment.restore'`)).toHaveLength(1);
  });

  test('can be prepared again', async () => {
    expect(await run()).toMatchObject({ interrupted_turns: 1, revoked_tokens: 1 });
  });
});

test('cursors of the old time are reset where retention has left no event, too', async () => {
  const old = String(BigInt(await events.head()) + 5n);
  await world.rows('DELETE FROM event');
  await run();
  await world.prompt((await world.task()).sessionId);
  await world.run((unit) =>
    unit.tell({ workspaceId: world.workspaceId, type: 'task.updated', taskId: null, sessionId: null, data: { number: 1 } }),
  );
  await sequencer.stampAll();
  expect(BigInt(await events.head())).toBeGreaterThan(BigInt(old));
  expect(await events.read(world.operator, { after: old, limit: 10 })).toMatchObject({ reset: true });
});
