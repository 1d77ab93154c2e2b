import type { CreateWorkspace, Page, PageQuery, Workspace, WorkspaceGrant } from '@echelon/contracts';
import { canonicalText, isRefusal, refuse } from '@echelon/domain';
import {
  type Database,
  deleteGrant,
  findWorkspace,
  insertAudit,
  insertGrant,
  insertWorkspace,
  listGrants,
  listWorkspaces,
  type WorkspaceGrantRow,
  type WorkspaceRow,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import type { Outcome } from './outcome.js';
import { pageByCreation, readPageByCreation } from './page.js';
import { isId, operatorOnly, seesWorkspace } from './scope.js';
import type { Transactions, Unit } from './unit-of-work.js';

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

  /** Lets tasks of a workspace send messages to tasks of another one, and nothing else (M13). Only an operator may; again, it changes nothing. */
  async grant(actor: Actor, id: string, toId: string): Promise<Outcome<WorkspaceGrant>> {
    if (id === toId) return refuse('INVALID_INPUT', { field: 'to_workspace_id', rule: 'another workspace' });
    return this.#changeGrant(actor, [id, toId], async (unit, by) => {
      const granted = await insertGrant(unit, { from: id, to: toId, by });
      if (granted?.created) await insertAudit(unit, { workspaceId: id, actor: by, action: 'workspace.grant', subject: toId });
      return granted?.row ?? null;
    });
  }

  /** Takes a grant back: what was delivered stays. Refuses with NOT_FOUND where there is none. */
  async revokeGrant(actor: Actor, id: string, toId: string): Promise<Outcome<WorkspaceGrant>> {
    return this.#changeGrant(actor, [id, toId], async (unit, by) => {
      const revoked = await deleteGrant(unit, id, toId);
      if (revoked) await insertAudit(unit, { workspaceId: id, actor: by, action: 'workspace.revoke_grant', subject: toId });
      return revoked;
    });
  }

  /** The grants that a workspace has, the oldest first. */
  async listGrants(actor: Actor, id: string): Promise<Outcome<Page<WorkspaceGrant>>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    const workspace = await this.get(actor, id);
    if (isRefusal(workspace)) return workspace;
    return { items: (await listGrants(this.database, id)).map(toGrant), next_cursor: null };
  }

  async #changeGrant(
    actor: Actor,
    ids: readonly string[],
    change: (unit: Unit, by: string) => Promise<WorkspaceGrantRow | null>,
  ): Promise<Outcome<WorkspaceGrant>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    if (!ids.every(isId)) return refuse('NOT_FOUND');
    const row = await this.transactions.run((unit) => change(unit, actorName(actor)));
    return row ? toGrant(row) : refuse('NOT_FOUND');
  }
}

function toGrant({ workspace_id, to_workspace_id, created_at }: WorkspaceGrantRow): WorkspaceGrant {
  return { workspace_id, to_workspace_id, created_at: created_at.toISOString() };
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return { id: row.id, name: row.name, created_at: row.created_at.toISOString() };
}
