import type { CreateWorkspace, Page, PageQuery, Workspace } from '@echelon/contracts';
import { canonicalText, isRefusal, refuse } from '@echelon/domain';
import { type Database, findWorkspace, insertAudit, insertWorkspace, listWorkspaces, type WorkspaceRow } from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import type { Outcome } from './outcome.js';
import { pageByCreation, readPageByCreation } from './page.js';
import { isId, operatorOnly, seesWorkspace } from './scope.js';
import type { Transactions } from './unit-of-work.js';

/** Workspaces: what an operator organises work in. An agent sees its own. */
export class WorkspaceService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  /** Creates a workspace; only an operator may. Refuses with CONFLICT where the name is taken. */
  async create(actor: Actor, input: CreateWorkspace): Promise<Outcome<Workspace>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    return this.transactions.run(async (unit) => {
      const row = await insertWorkspace(unit, canonicalText(input.name));
      if (!row) return refuse('CONFLICT', { field: 'name', rule: 'unique' });
      await insertAudit(unit, { workspaceId: row.id, actor: actorName(actor), action: 'workspace.create', subject: row.id });
      return toWorkspace(row);
    });
  }

  async get(actor: Actor, id: string): Promise<Outcome<Workspace>> {
    const row = isId(id) && seesWorkspace(actor, id) ? await findWorkspace(this.database, id) : null;
    return row ? toWorkspace(row) : refuse('NOT_FOUND');
  }

  /** Workspaces from new to old. */
  async list(actor: Actor, query: PageQuery): Promise<Outcome<Page<Workspace>>> {
    const page = readPageByCreation(query);
    if (isRefusal(page)) return page;
    const only = actor.kind === 'agent' ? actor.workspaceId : null;
    return pageByCreation(await listWorkspaces(this.database, page, only), query.limit, toWorkspace);
  }
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return { id: row.id, name: row.name, created_at: row.created_at.toISOString() };
}
