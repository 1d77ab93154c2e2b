import type { CreateWorkspace, Page, PageQuery, Workspace } from '@echelon/contracts';
import type { Database } from '@echelon/persistence';
import type { Actor } from './actor.js';
import type { Outcome } from './outcome.js';
import type { Transactions } from './unit-of-work.js';

/** Workspaces: what an operator organises work in. An agent sees its own. */
export class WorkspaceService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  /** Creates a workspace; only an operator may. Refuses with CONFLICT where the name is taken. */
  create(actor: Actor, input: CreateWorkspace): Promise<Outcome<Workspace>> {
    throw new Error(`not built: ${String([this.database, this.transactions, actor, input])}`);
  }

  get(actor: Actor, id: string): Promise<Outcome<Workspace>> {
    throw new Error(`not built: ${String([actor, id])}`);
  }

  list(actor: Actor, query: PageQuery): Promise<Outcome<Page<Workspace>>> {
    throw new Error(`not built: ${String([actor, query])}`);
  }
}
