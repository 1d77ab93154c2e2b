import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listVoidLeases, PRESENCE_LOCK_CLASS, type TurnRow } from '@echelon/persistence';
import { ROOT } from '../../../test/support/reached-root.js';
import { ASK } from '../../../test/support/waiting-child.js';
import { accepted, World, type TestTask } from '../../../test/support/world.js';
import { claimTurn } from './claim.js';
import { recoverLease } from './lease-recovery.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** A lease of a process that is gone: nobody holds its advisory lock. */
const GONE = { owner: 'worker:gone', presence: '2000000001', leaseMs: 600_000, rootId: ROOT.id };

async function dieHolding(task: TestTask, options: { readonly afterBarrier: boolean }): Promise<TurnRow> {
  const claimed = await claimTurn(world.transactions, task.sessionId, GONE);
  if (!claimed) throw new Error('nothing was claimed');
  if (options.afterBarrier) await world.rows('UPDATE turn SET last_barrier_at = now() WHERE id = $1', [claimed.turn.id]);
  return claimed.turn;
}

async function turnOf(task: TestTask): Promise<TurnRow | undefined> {
  return (await world.rows<TurnRow>('SELECT * FROM turn WHERE session_id = $1', [task.sessionId]))[0];
}

/** The backoff passes. */
function waitOut(task: TestTask): Promise<unknown> {
  return world.rows('UPDATE turn SET resume_at = NULL WHERE session_id = $1', [task.sessionId]);
}

test('a lease whose process is gone is freed at once, long before its time, and announced [K10, K12]', async () => {
  const task = await world.task();
  await world.prompt(task.sessionId);
  const turn = await dieHolding(task, { afterBarrier: true });
  const before = world.announced.filter((id) => id === task.sessionId).length;
  expect(await recoverLease(world.transactions, task.sessionId)).toBe(true);
  expect(await world.sessionRow(task.sessionId)).toMatchObject({ lease_owner: null, state: 'idle', runnable: true });
  expect(world.announced.filter((id) => id === task.sessionId)).toHaveLength(before + 1);
  expect((await world.claim(task.sessionId)).turn.id).toBe(turn.id);
});

test('a process of another database on the same server keeps no lease alive, whatever its number [K12]', async () => {
  const elsewhere = await World.open();
  const taken = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const holding = elsewhere.run(async (unit) => {
    await unit.query('SELECT pg_advisory_xact_lock($1, $2)', [PRESENCE_LOCK_CLASS, GONE.presence]);
    taken.resolve();
    await over.promise;
  });
  await taken.promise;
  const task = await world.task();
  await world.prompt(task.sessionId);
  await dieHolding(task, { afterBarrier: true });
  expect((await listVoidLeases(world.database, 10)).map(({ id }) => id)).toContain(task.sessionId);
  expect(await recoverLease(world.transactions, task.sessionId)).toBe(true);
  over.resolve();
  await holding;
  await elsewhere.close();
});

test('a live lease is left alone [K3]', async () => {
  const task = await world.task();
  await world.openTurn(task.sessionId);
  expect(await recoverLease(world.transactions, task.sessionId)).toBe(false);
  expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'running' });
});

test('a lease whose time has passed is void although its process lives [K12]', async () => {
  const task = await world.task();
  await world.openTurn(task.sessionId);
  await world.rows(`UPDATE session SET lease_until = clock_timestamp() - interval '1 second' WHERE id = $1`, [task.sessionId]);
  expect(await recoverLease(world.transactions, task.sessionId)).toBe(true);
});

test('two sweepers free a lease once [K10]', async () => {
  const task = await world.task();
  await world.prompt(task.sessionId);
  await dieHolding(task, { afterBarrier: false });
  const freed = await Promise.all([recoverLease(world.transactions, task.sessionId), recoverLease(world.transactions, task.sessionId)]);
  expect(freed.toSorted()).toEqual([false, true]);
  expect(await turnOf(task)).toMatchObject({ involuntary_resumes: 1 });
});

test('takeovers without progress back off, and the third closes the turn and alerts the parent [K22]', async () => {
  const parent = await world.task();
  const child = await world.task({ parent, autopilot: true });
  await world.prompt(child.sessionId);
  await dieHolding(child, { afterBarrier: false });
  await recoverLease(world.transactions, child.sessionId);
  expect(await turnOf(child)).toMatchObject({ involuntary_resumes: 1, resume_at: null });
  await dieHolding(child, { afterBarrier: false });
  await recoverLease(world.transactions, child.sessionId);
  expect((await turnOf(child))?.resume_at).not.toBeNull();
  expect(await world.tryClaim(child.sessionId)).toBeNull();
  await waitOut(child);
  await dieHolding(child, { afterBarrier: false });
  await recoverLease(world.transactions, child.sessionId);
  expect(await turnOf(child)).toMatchObject({ status: 'finished', outcome: 'interrupted' });
  expect((await world.entries(parent.sessionId)).map(({ kind }) => kind)).toEqual(['alert']);
});

test('progress between takeovers starts the count anew [K22]', async () => {
  const task = await world.task();
  await world.prompt(task.sessionId);
  await dieHolding(task, { afterBarrier: false });
  await recoverLease(world.transactions, task.sessionId);
  await dieHolding(task, { afterBarrier: true });
  await recoverLease(world.transactions, task.sessionId);
  expect(await turnOf(task)).toMatchObject({ involuntary_resumes: 0 });
});

test('a turn of an external agent that asked and whose worker then died has ended with its question, and nobody is told of an interruption [A1, K12]', async () => {
  const parent = await world.task();
  const child = await world.task({ parent, autopilot: true, runtime: 'acp' });
  await world.prompt(child.sessionId);
  await dieHolding(child, { afterBarrier: true });
  accepted(await world.services.questions.askParent(world.agent(child), ASK, 'call-1'));
  await world.rows(`UPDATE turn SET system_prompt = 'sent' WHERE session_id = $1`, [child.sessionId]);
  expect(await recoverLease(world.transactions, child.sessionId)).toBe(true);
  expect(await turnOf(child)).toMatchObject({ status: 'finished', outcome: 'tool_ended_turn' });
  expect((await world.entries(parent.sessionId)).map(({ kind }) => kind)).toEqual(['question']);
  expect((await world.entries(child.sessionId)).map(({ kind }) => kind)).toEqual(['prompt']);
});
