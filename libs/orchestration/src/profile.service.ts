import type { AgentProfile, CreateProfile, Page, PageQuery, UpdateProfile } from '@echelon/contracts';
import type { Database } from '@echelon/persistence';
import type { Actor } from './actor.js';
import type { Outcome } from './outcome.js';
import type { Transactions } from './unit-of-work.js';

export type ListProfiles = PageQuery & { readonly workspace_id?: string | undefined };

/** Agent profiles: how a task's agent is run. Operators change them; an agent reads those of its workspace. */
export class ProfileService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  create(actor: Actor, input: CreateProfile): Promise<Outcome<AgentProfile>> {
    throw new Error(`not built: ${String([this.database, this.transactions, actor, input])}`);
  }

  get(actor: Actor, id: string): Promise<Outcome<AgentProfile>> {
    throw new Error(`not built: ${String([actor, id])}`);
  }

  list(actor: Actor, query: ListProfiles): Promise<Outcome<Page<AgentProfile>>> {
    throw new Error(`not built: ${String([actor, query])}`);
  }

  /** Refuses an edit that would take the contract from under autopilot tasks that have not ended (F11). */
  update(actor: Actor, id: string, input: UpdateProfile): Promise<Outcome<AgentProfile>> {
    throw new Error(`not built: ${String([actor, id, input])}`);
  }

  archive(actor: Actor, id: string): Promise<Outcome<AgentProfile>> {
    throw new Error(`not built: ${String([actor, id])}`);
  }
}
