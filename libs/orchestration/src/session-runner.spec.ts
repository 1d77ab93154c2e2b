import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TurnRow } from '@echelon/persistence';
import { ROOT } from '../../../test/support/reached-root.js';
import { World } from '../../../test/support/world.js';
import type { AgentRuntime, TurnReport, TurnSignals } from './agent-runtime.js';
import type { ClaimedTurn } from './claim.js';
import { recoverLease } from './lease-recovery.js';
import { HandedOverError, SessionRunner } from './session-runner.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

const COMPLETED: TurnReport = { stop: { reason: 'completed' }, record: () => Promise.resolve() };

interface Held {
  readonly claimed: ClaimedTurn;
  readonly signals: TurnSignals;
  finish(report?: TurnReport): void;
  fail(error: Error): void;
}

/** A runtime whose turns end when the spec says so: the port's other side. */
class HeldRuntime implements AgentRuntime {
  readonly turns: Held[] = [];
  #arrived = Promise.withResolvers<void>();

  run(claimed: ClaimedTurn, signals: TurnSignals): Promise<TurnReport> {
    const { promise, resolve, reject } = Promise.withResolvers<TurnReport>();
    this.turns.push({ claimed, signals, finish: (report = COMPLETED) => resolve(report), fail: reject });
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers<void>();
    return promise;
  }

  async turn(number: number): Promise<Held> {
    while (!this.turns[number]) await this.#arrived.promise;
    return this.turns[number];
  }
}

function build(slots: number) {
  const runtime = new HeldRuntime();
  const held: (readonly string[])[] = [];
  const errors: unknown[] = [];
  const runner = new SessionRunner({
    transactions: world.transactions,
    runtimes: { loop: runtime },
    claimer: { owner: 'worker:spec', presence: null, leaseMs: 600_000, rootId: ROOT.id },
    slots,
    onHeld: (sessions) => held.push(sessions),
    onError: (error) => errors.push(error),
  });
  return { runtime, runner, held, errors };
}

async function promptedTask(): Promise<string> {
  const { sessionId } = await world.task();
  await world.prompt(sessionId);
  return sessionId;
}

test('a job waits for a slot and is not dropped [K1, K24]', async () => {
  const { runtime, runner } = build(1);
  const [first, second] = [await promptedTask(), await promptedTask()];
  const firstDone = runner.run(first);
  const held = await runtime.turn(0);
  const secondDone = runner.run(second);
  expect(await runner.offer(second)).toBe(false);
  held.finish();
  await firstDone;
  const next = await runtime.turn(1);
  expect(next.claimed.session.id).toBe(second);
  next.finish();
  await secondDone;
});

test('a job for a session that winds down here looks at it afterwards [K24]', async () => {
  const { runtime, runner } = build(4);
  const session = await promptedTask();
  const done = runner.run(session);
  const held = await runtime.turn(0);
  const again = runner.run(session);
  held.finish({ stop: { reason: 'error', kind: 'lease_lost', message: 'lost' }, record: () => Promise.resolve() });
  await done;
  await world.rows(`UPDATE session SET lease_until = now() - interval '1 second' WHERE id = $1`, [session]);
  await again;
  expect(await recoverLease(world.transactions, session)).toBe(true);
  const resumed = runner.run(session);
  (await runtime.turn(1)).finish();
  await resumed;
  expect(await world.sessionRow(session)).toMatchObject({ state: 'idle', lease_owner: null });
});

test('a session yields after a turn when a job waits for its slot [K24]', async () => {
  const { runtime, runner } = build(1);
  const [first, second] = [await promptedTask(), await promptedTask()];
  await world.prompt(first, 'And more.');
  const firstDone = runner.run(first);
  const held = await runtime.turn(0);
  const secondDone = runner.run(second);
  held.finish();
  await firstDone;
  const next = await runtime.turn(1);
  expect(next.claimed.session.id).toBe(second);
  next.finish();
  await secondDone;
});

test('a turn that breaks is reported as held no longer, so that its lease runs out and is recovered [K10, K12]', async () => {
  const { runtime, runner, held, errors } = build(2);
  const session = await promptedTask();
  const done = runner.run(session);
  const turn = await runtime.turn(0);
  expect(held.at(-1)).toEqual([session]);
  turn.fail(new Error('no space left'));
  await done;
  expect(errors).toHaveLength(1);
  expect(held.at(-1)).toEqual([]);
});

test('a lease that another has, or that was fenced, ends the turn here without a write [K4]', async () => {
  const { runtime, runner } = build(2);
  const session = await promptedTask();
  const done = runner.run(session);
  const turn = await runtime.turn(0);
  const lease = { session_id: session, epoch: turn.claimed.lease.epoch, ours: true, stop: false };
  runner.renewed([lease]);
  expect(turn.signals.lost.aborted).toBe(false);
  runner.renewed([{ ...lease, ours: false }]);
  expect(turn.signals.lost.aborted).toBe(true);
  turn.finish();
  await done;
  const [row] = await world.rows<TurnRow>('SELECT * FROM turn WHERE session_id = $1', [session]);
  expect(row).toMatchObject({ status: 'running', outcome: null });
});

test('a renewal brings a stop to the turn that runs here [K12, K18]', async () => {
  const { runtime, runner } = build(1);
  const session = await promptedTask();
  const done = runner.run(session);
  const turn = await runtime.turn(0);
  runner.renewed([{ session_id: session, epoch: turn.claimed.lease.epoch, ours: true, stop: true }]);
  expect(turn.signals.stop.aborted).toBe(true);
  turn.finish();
  await done;
});

test('a process that hands over takes nothing new and gives its jobs back [K23]', async () => {
  const { runtime, runner } = build(1);
  const [first, second] = [await promptedTask(), await promptedTask()];
  const firstDone = runner.run(first);
  const turn = await runtime.turn(0);
  const refused = expect(runner.run(second)).rejects.toBeInstanceOf(HandedOverError);
  const handedOver = runner.handOver();
  expect(turn.signals.handOver.aborted).toBe(true);
  turn.finish({ stop: { reason: 'handed_over' }, record: () => Promise.resolve() });
  await Promise.all([handedOver, firstDone, refused]);
  expect(await runner.offer(second)).toBe(false);
  expect((await world.claim(first)).turn.id).toBe(turn.claimed.turn.id);
});
