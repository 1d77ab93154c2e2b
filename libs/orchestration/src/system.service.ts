import type { InvariantReport, WorkspaceRoots } from '@echelon/contracts';
import { isRefusal, refuse } from '@echelon/domain';
import { checkInvariants, type Database, isStatementTimeout, readTime, readWorkspaceRoots } from '@echelon/persistence';
import type { Actor } from './actor.js';
import type { Outcome } from './outcome.js';
import { operatorOnly } from './scope.js';

/** Offending rows that a report names of each invariant. */
const MOST_ROWS = 100;
const LONGEST_STATEMENT_MS = 10_000;

/** What an operator asks of the deployment as a whole. */
export class SystemService {
  #checking = false;

  constructor(
    private readonly database: Database,
    private readonly statementMs = LONGEST_STATEMENT_MS,
  ) {}

  /**
   * Checks the contract's invariants on one snapshot of the live database (autopilot-contract.md §9); only an operator may. It reads
   * whole tables: refuses with CONFLICT while another check runs in this process, and when one query takes longer than ten seconds.
   */
  async checkInvariants(actor: Actor): Promise<Outcome<InvariantReport>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    if (this.#checking) return refuse('CONFLICT', { rule: 'one check at a time' });
    this.#checking = true;
    try {
      return await this.#check();
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      return refuse('CONFLICT', { rule: `no query of the check takes longer than ${this.statementMs / 1_000} s; check a restored dump` });
    } finally {
      this.#checking = false;
    }
  }

  /** Where task folders lie, and what waits there; only an operator may: agents never learn of hosts and paths. */
  async listWorkspaceRoots(actor: Actor): Promise<Outcome<WorkspaceRoots>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    const roots = await readWorkspaceRoots(this.database);
    const items = roots.map(({ created_at, seen_at, ...root }) => ({
      ...root,
      created_at: created_at.toISOString(),
      seen_at: seen_at.toISOString(),
    }));
    return { items };
  }

  async #check(): Promise<InvariantReport> {
    const { checked, at } = await this.database.transaction(async (tx) => ({
      checked: await checkInvariants(tx, MOST_ROWS, this.statementMs),
      at: await readTime(tx),
    }));
    return {
      checked_at: at.toISOString(),
      ok: checked.every(({ rows }) => rows.length === 0),
      invariants: checked.map(({ name, always, rows }) => ({ name, always, rows: rows.map((row) => ({ ...row })) })),
    };
  }
}
