import { describe, expect, test } from '@jest/globals';
import type { InvariantReport } from '@echelon/contracts';
import { checkInvariants, describeInvariants } from './invariants.js';

const ALWAYS = { name: 'at most one pending question per session', always: true };
const HEALED = { name: 'no session has work that nobody does', always: false };

function report(always: readonly string[], healed: readonly string[]): InvariantReport {
  const rows = (ids: readonly string[]) => ids.map((id) => ({ id }));
  return {
    checked_at: '2026-11-30T00:00:00.000Z',
    ok: always.length + healed.length === 0,
    invariants: [
      { ...ALWAYS, rows: rows(always) },
      { ...HEALED, rows: rows(healed) },
    ],
  };
}

/** Checks against a server that gives one report after the other; also how many were asked for. */
async function check(...reports: readonly InvariantReport[]): Promise<{ readonly asked: number; readonly found: InvariantReport }> {
  let asked = 0;
  const found = await checkInvariants({ checkInvariants: () => Promise.resolve(reports[asked++]!) }, 0);
  return { asked, found };
}

describe('doctor --invariants', () => {
  test('asks once where nothing offends', async () => {
    expect(await check(report([], []))).toEqual({ asked: 1, found: report([], []) });
  });

  test('reports at once what no recovery heals', async () => {
    expect(await check(report(['a'], []))).toEqual({ asked: 1, found: report(['a'], []) });
  });

  test('reports of what recovery heals only rows that are still there', async () => {
    expect((await check(report([], ['a', 'b']), report([], ['b', 'c']))).found).toEqual(report([], ['b']));
    expect((await check(report([], ['a']), report([], ['c']))).found).toEqual(report([], []));
  });

  test('names offending rows', () => {
    expect(describeInvariants(report(['a'], []))).toEqual([
      'WRONG  at most one pending question per session',
      '         {"id":"a"}',
      'ok     no session has work that nobody does',
    ]);
  });
});
