/** What must hold whenever nothing runs (autopilot-contract.md §9). */
import { checkInvariants, type Database, type InvariantName } from '@echelon/persistence';

/** Where nothing runs and nothing waits for a slot, announced work is as undone as any. */
const WORK: InvariantName = 'no session has work that nobody does';

/** Offending rows by the invariant that they offend; empty when all hold. */
export async function findViolations(database: Database): Promise<Partial<Record<InvariantName, readonly object[]>>> {
  const checked = await database.transaction((tx) => checkInvariants(tx, 100));
  const violations = Object.fromEntries(checked.filter(({ rows }) => rows.length > 0).map(({ name, rows }) => [name, rows]));
  const undone = await database.query('SELECT id, state FROM session WHERE runnable AND lease_owner IS NULL');
  return undone.length > 0 ? { ...violations, [WORK]: undone } : violations;
}

/** Those that hold after every commit, and do not. */
export async function findBroken(database: Database): Promise<readonly InvariantName[]> {
  const checked = await database.transaction((tx) => checkInvariants(tx, 1));
  return checked.filter(({ always, rows }) => always && rows.length > 0).map(({ name }) => name);
}
