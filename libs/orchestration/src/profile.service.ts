import type { AgentProfile, CreateProfile, Page, PageQuery, UpdateProfile } from '@echelon/contracts';
import { canonicalText, carriesAutopilot, isRefusal, type Limits, refuse, type Refusal } from '@echelon/domain';
import {
  archiveProfile,
  countAutopilotUses,
  type Database,
  findProfile,
  findWorkspace,
  insertAudit,
  insertProfile,
  listProfiles,
  lockProfile,
  type ProfileFields,
  type ProfileRow,
  updateProfile,
  violatedConstraint,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { checkBytes } from './limit-checks.js';
import type { Outcome } from './outcome.js';
import { pageByCreation, readPageByCreation } from './page.js';
import { type GivenAgent, type ProfileAgent, resolveAgent } from './profile-agent.js';
import { toProfile } from './profile-view.js';
import { inScope, isId, operatorOnly, scopeOf } from './scope.js';
import type { Transactions, Unit } from './unit-of-work.js';

/** A profile before it is known what runs its agent. */
type GivenFields = Omit<ProfileFields, keyof ProfileAgent> & GivenAgent;

export type ListProfiles = PageQuery & { readonly workspace_id?: string | undefined };

/** Agent profiles: how a task's agent is run. Operators change them; an agent reads those of its workspace. */
export class ProfileService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  /** Creates a profile; only an operator may. Refuses with CONFLICT where the workspace has one of that name. */
  async create(actor: Actor, input: CreateProfile): Promise<Outcome<AgentProfile>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    const { workspace_id: workspaceId, ...given } = input;
    const fields = this.#canonical(given);
    if (isRefusal(fields)) return fields;
    if (!(await findWorkspace(this.database, workspaceId))) return refuse('NOT_FOUND', { field: 'workspace_id' });
    return refuseTakenName(
      this.transactions.run(async (unit) => {
        const row = await insertProfile(unit, workspaceId, fields);
        await insertAudit(unit, { workspaceId, actor: actorName(actor), action: 'profile.create', subject: row.id });
        return toProfile(row);
      }),
    );
  }

  async get(actor: Actor, id: string): Promise<Outcome<AgentProfile>> {
    const row = inScope(actor, isId(id) ? await findProfile(this.database, id) : null);
    return isRefusal(row) ? row : toProfile(row);
  }

  /** Profiles that are not archived, from new to old. */
  async list(actor: Actor, query: ListProfiles): Promise<Outcome<Page<AgentProfile>>> {
    const page = readPageByCreation(query);
    if (isRefusal(page)) return page;
    const scope = scopeOf(actor, query.workspace_id);
    if (isRefusal(scope)) return scope;
    return pageByCreation(await listProfiles(this.database, page, scope.workspaceId), query.limit, toProfile);
  }

  /** Changes the given fields. Refuses what would take the contract from under autopilot tasks that have not ended (F11). */
  async update(actor: Actor, id: string, input: UpdateProfile): Promise<Outcome<AgentProfile>> {
    return this.#change(actor, id, 'profile.update', async (unit, profile) => {
      const fields = this.#canonical({ ...profile, ...withoutAbsent(input) });
      if (isRefusal(fields)) return fields;
      const broken = carriesAutopilot(profile.runtime) && !carriesAutopilot(fields.runtime) && (await countAutopilotUses(unit, id)) > 0;
      return broken ? refuse('PROFILE_IN_USE', { field: 'runtime' }) : updateProfile(unit, id, fields);
    });
  }

  /** Takes a profile out of use for new tasks; tasks that have it keep it. A second time changes nothing. */
  async archive(actor: Actor, id: string): Promise<Outcome<AgentProfile>> {
    return this.#change(actor, id, 'profile.archive', (unit) => archiveProfile(unit, id));
  }

  async #change(
    actor: Actor,
    id: string,
    action: string,
    change: (unit: Unit, profile: ProfileRow) => Promise<Outcome<ProfileRow>>,
  ): Promise<Outcome<AgentProfile>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    return refuseTakenName(
      this.transactions.run(async (unit) => {
        const profile = isId(id) ? await lockProfile(unit, id) : null;
        if (!profile) return refuse('NOT_FOUND');
        const changed = await change(unit, profile);
        if (isRefusal(changed)) return changed;
        await insertAudit(unit, { workspaceId: profile.workspace_id, actor: actorName(actor), action, subject: id });
        return toProfile(changed);
      }),
    );
  }

  #canonical(given: GivenFields): ProfileFields | Refusal {
    const agent = resolveAgent(given);
    if (isRefusal(agent)) return agent;
    const fields = {
      ...given,
      command: agent.command && agent.command.map(canonicalText),
      name: canonicalText(given.name),
      provider: canonicalText(agent.provider),
      model: canonicalText(agent.model),
      system_prompt: canonicalText(given.system_prompt),
      fallback_models: given.fallback_models.map(canonicalText),
    };
    return checkBytes(this.limits, 'prompt_bytes', 'system_prompt', fields.system_prompt) ?? fields;
  }
}

async function refuseTakenName<T extends object>(change: Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await change;
  } catch (error) {
    if (violatedConstraint(error) !== 'agent_profile_workspace_id_name_key') throw error;
    return refuse('CONFLICT', { field: 'name', rule: 'unique' });
  }
}

function withoutAbsent<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
