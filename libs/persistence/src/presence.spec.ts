import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type FaultProxy, startFaultProxy, waitFor } from '@echelon/testkit';
import { World } from '../../../test/support/world.js';
import { type HeldLease, type Presence, PRESENCE_TIMES, type PresenceTimes, takePresence } from './presence.js';
import { PRESENCE_LOCK_CLASS } from './sql/presence-lock.js';

const QUICK: PresenceTimes = { ...PRESENCE_TIMES, renewMs: 20, reconnectMs: 300 };

interface Watched {
  readonly presence: Presence;
  readonly renewals: (readonly HeldLease[])[];
  readonly lost: () => boolean;
}

let world: World;
let line: FaultProxy;
const open: Presence[] = [];

beforeAll(async () => {
  world = await World.open();
  line = await startFaultProxy({ port: Number(new URL(world.url).port) });
});
afterEach(async () => {
  line.resume();
  await Promise.all(open.splice(0).map((presence) => presence.close()));
});
afterAll(async () => {
  await line.close();
  await world.close();
});

async function take(times: Partial<PresenceTimes> = {}, url = world.url): Promise<Watched> {
  const renewals: (readonly HeldLease[])[] = [];
  let lost = false;
  const listener = { renewed: (leases: readonly HeldLease[]) => void renewals.push(leases), lost: () => void (lost = true) };
  const presence = await takePresence(url, listener, { ...QUICK, ...times });
  open.push(presence);
  return { presence, renewals, lost: () => lost };
}

/** The backend that holds the lock of a presence number. */
async function holderOf({ number }: Presence): Promise<number | null> {
  const [row] = await world.rows<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND objid = $2::bigint::oid AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [PRESENCE_LOCK_CLASS, number],
  );
  return row?.pid ?? null;
}

async function lease(presence: string): Promise<string> {
  const { sessionId } = await world.task();
  await world.rows(`UPDATE session SET lease_owner = 'worker:spec', lease_presence = $2, lease_until = now() WHERE id = $1`, [
    sessionId,
    presence,
  ]);
  return sessionId;
}

async function isLive(sessionId: string): Promise<boolean> {
  const [row] = await world.rows<{ live: boolean }>('SELECT lease_until > clock_timestamp() AS live FROM session WHERE id = $1', [
    sessionId,
  ]);
  return row?.live === true;
}

describe('the presence of a process', () => {
  test('is the lock of a number of its own, for as long as it is open [K12]', async () => {
    const [one, other] = [await take(), await take()];
    expect(one.presence.number).not.toBe(other.presence.number);
    expect(await holderOf(one.presence)).not.toBeNull();
    await open.shift()!.close();
    expect(await holderOf(one.presence)).toBeNull();
    expect(await holderOf(other.presence)).not.toBeNull();
  });

  test('renews the leases that it is told of, and says of each whether it is still its own [K12]', async () => {
    const { presence, renewals } = await take();
    const [own, foreign] = [await lease(presence.number), await lease('0')];
    presence.hold([own, foreign]);
    await waitFor('both leases were looked at', () => renewals.some(({ length }) => length === 2));
    const told = new Map(renewals.at(-1)!.map(({ session_id, ours, stop }) => [session_id, { ours, stop }]));
    expect(told.get(own)).toEqual({ ours: true, stop: false });
    expect(told.get(foreign)).toEqual({ ours: false, stop: false });
    expect([await isLive(own), await isLive(foreign)]).toEqual([true, false]);
  });

  test('outlives a lost connection under the same number [K12]', async () => {
    const { presence, lost } = await take();
    const pid = await holderOf(presence);
    await world.asOwner(`SELECT pg_terminate_backend(${pid})`);
    await waitFor('another connection holds the lock', async () => ![null, pid].includes(await holderOf(presence)));
    expect(lost()).toBe(false);
  });

  test('is lost for good when the database cannot be reached again in time [K12]', async () => {
    const { presence, lost } = await take({}, line.through(world.url));
    line.cut();
    await waitFor('the presence is lost', lost);
    expect(presence.elected()).toBe(false);
    expect(await holderOf(presence)).toBeNull();
  });

  test('renews nothing, and is not elected, while its main loop stands still [K12]', async () => {
    const still = await take({ stallMs: 0 });
    const session = await lease(still.presence.number);
    still.presence.hold([session]);
    const moving = await take();
    await waitFor('another process renews', () => moving.renewals.length >= 3);
    expect(still.renewals).toEqual([]);
    expect(still.presence.elected()).toBe(false);
    expect(await isLive(session)).toBe(false);
  });

  test('elects one process of several, and another when that one is gone [K12]', async () => {
    const first = await take();
    await waitFor('the first is elected', () => first.presence.elected());
    const second = await take();
    await waitFor('the second renews', () => second.renewals.length >= 3);
    expect([first.presence.elected(), second.presence.elected()]).toEqual([true, false]);
    await open.shift()!.close();
    await waitFor('the second is elected', () => second.presence.elected());
  });

  test('cannot be taken where there is no database', async () => {
    await expect(
      takePresence('postgresql://nobody@127.0.0.1:1/none', { renewed: () => undefined, lost: () => undefined }, QUICK),
    ).rejects.toThrow(/ECONNREFUSED/);
  });
});
