import type { InvariantReport } from '@echelon/contracts';
import { isRefusal } from '@echelon/domain';
import { checkInvariants, type Database, readTime } from '@echelon/persistence';
import type { Actor } from './actor.js';
import type { Outcome } from './outcome.js';
import { operatorOnly } from './scope.js';

/** Offending rows that a report names of each invariant. */
const MOST_ROWS = 100;

/** What an operator asks of the deployment as a whole. */
export class SystemService {
  constructor(private readonly database: Database) {}

  /** Checks the contract's invariants on one snapshot of the live database (autopilot-contract.md §9); only an operator may. */
  async checkInvariants(actor: Actor): Promise<Outcome<InvariantReport>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    const { checked, at } = await this.database.transaction(async (tx) => ({
      checked: await checkInvariants(tx, MOST_ROWS),
      at: await readTime(tx),
    }));
    return {
      checked_at: at.toISOString(),
      ok: checked.every(({ rows }) => rows.length === 0),
      invariants: checked.map(({ name, always, rows }) => ({ name, always, rows: rows.map((row) => ({ ...row })) })),
    };
  }
}
