/** `echelon doctor --invariants`: the contract's invariants on the live database of a running server. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '@echelon/api-client';
import type { InvariantReport } from '@echelon/contracts';

type Invariant = InvariantReport['invariants'][number];

/**
 * Checks once; and where recovery might be under way for a row, again after `recoverMs`: only what is found twice offends.
 */
export async function checkInvariants(system: Pick<ApiClient['system'], 'checkInvariants'>, recoverMs: number): Promise<InvariantReport> {
  const first = await system.checkInvariants();
  if (!first.invariants.some(({ always, rows }) => !always && rows.length > 0)) return first;
  await delay(recoverMs);
  const second = await system.checkInvariants();
  const invariants = second.invariants.map((invariant, index) => keepLasting(invariant, first.invariants[index]));
  return { ...second, ok: invariants.every(({ rows }) => rows.length === 0), invariants };
}

function keepLasting(invariant: Invariant, before: Invariant | undefined): Invariant {
  if (invariant.always) return invariant;
  const known = new Set(before?.rows.map((row) => JSON.stringify(row)));
  return { ...invariant, rows: invariant.rows.filter((row) => known.has(JSON.stringify(row))) };
}

/** One line per invariant, and one per row that offends it. */
export function describeInvariants({ invariants }: InvariantReport): readonly string[] {
  return invariants.flatMap(({ name, rows }) => [
    `${rows.length === 0 ? 'ok   ' : 'WRONG'}  ${name}`,
    ...rows.map((row) => `         ${JSON.stringify(row)}`),
  ]);
}
