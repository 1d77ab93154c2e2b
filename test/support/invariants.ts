/** What must hold whenever nothing runs (autopilot-contract.md §9). */
import { checkInvariants, type Database, type InvariantName } from '@echelon/persistence';

/** Offending rows by the invariant that they offend; empty when all hold. */
export async function findViolations(database: Database): Promise<Partial<Record<InvariantName, readonly object[]>>> {
  const checked = await database.transaction((tx) => checkInvariants(tx, 100));
  return Object.fromEntries(checked.filter(({ rows }) => rows.length > 0).map(({ name, rows }) => [name, rows]));
}

/** Those that hold after every commit, and do not. */
export async function findBroken(database: Database): Promise<readonly InvariantName[]> {
  const checked = await database.transaction((tx) => checkInvariants(tx, 1));
  return checked.filter(({ always, rows }) => always && rows.length > 0).map(({ name }) => name);
}
