import type { CreateWorkflow, Page, PageQuery, UpdateWorkflow, Workflow } from '@echelon/contracts';
import { canonicalText, isRefusal, type Limits, refuse, type Refusal } from '@echelon/domain';
import {
  archiveWorkflow,
  countUses,
  type Database,
  insertAudit,
  insertWorkflow,
  lockDefinitions,
  lockWorkflow,
  readWorkflow,
  readWorkflows,
  setDefaultWorkflow,
  touchWorkflow,
  violatedConstraint,
  type WorkflowView,
  writeSteps,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { type Outcome, orRollBack, refusalOf } from './outcome.js';
import { pageByCreation, readPageByCreation } from './page.js';
import { inScope, isId, operatorOnly, scopeOf } from './scope.js';
import type { Transactions, Unit } from './unit-of-work.js';
import { toSteps } from './workflow-steps.js';
import { toWorkflow } from './workflow-view.js';

export type ListWorkflows = PageQuery & { readonly workspace_id?: string | undefined };

type Action = 'workflow.create' | 'workflow.update' | 'workflow.archive';

/**
 * Workflows: the ordered steps that tasks of a workspace go through. Operators define them; an agent reads those of its workspace.
 *
 * W1  A definition is changed as a whole, under its workspace's lock; tasks enter its steps before that or after it (K20).
 * W2  A step is not taken away from tasks that are in it and have not ended.
 */
export class WorkflowService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  /** Creates a workflow with its steps; CONFLICT where the workspace has one of that name, WORKFLOW_LOOP where it could run for ever. */
  async create(actor: Actor, input: CreateWorkflow): Promise<Outcome<Workflow>> {
    return this.#define(actor, input.workspace_id, 'workflow.create', async (unit) => {
      const steps = toSteps(input.steps, [], this.limits);
      if (isRefusal(steps)) return steps;
      const row = await insertWorkflow(unit, input.workspace_id, canonicalText(input.name));
      await writeSteps(unit, row, steps);
      if (input.is_default) await setDefaultWorkflow(unit, row, true);
      return row.id;
    });
  }

  async get(actor: Actor, id: string): Promise<Outcome<Workflow>> {
    const row = inScope(actor, isId(id) ? await readWorkflow(this.database, id) : null);
    return isRefusal(row) ? row : toWorkflow(row);
  }

  /** Workflows that are not archived, from new to old. */
  async list(actor: Actor, query: ListWorkflows): Promise<Outcome<Page<Workflow>>> {
    const page = readPageByCreation(query);
    if (isRefusal(page)) return page;
    const scope = scopeOf(actor, query.workspace_id);
    if (isRefusal(scope)) return scope;
    return pageByCreation(await readWorkflows(this.database, scope.workspaceId, page), query.limit, toWorkflow);
  }

  /** Changes name, default or steps; steps that the new list leaves out are archived, unless tasks are in them (WORKFLOW_STEP_IN_USE). */
  async update(actor: Actor, id: string, input: UpdateWorkflow): Promise<Outcome<Workflow>> {
    return this.#change(actor, id, 'workflow.update', async (unit, workflow) => {
      if (input.expected_revision !== undefined && input.expected_revision !== workflow.revision)
        return refuse('CONFLICT', { field: 'expected_revision', revision: workflow.revision });
      const steps = input.steps ? toSteps(input.steps, workflow.steps, this.limits) : null;
      if (steps && isRefusal(steps)) return steps;
      const dropped = steps ? workflow.steps.filter((step) => !steps.some(({ id: kept }) => kept === step.id)) : [];
      const refusal = await refuseUsed(unit, dropped);
      if (refusal) return refusal;
      await touchWorkflow(unit, id, input.name === undefined ? null : canonicalText(input.name));
      if (steps) await writeSteps(unit, workflow, steps);
      if (input.is_default !== undefined) await setDefaultWorkflow(unit, workflow, input.is_default);
      return null;
    });
  }

  /** Takes a workflow out of use, unless tasks are in its steps; a second time changes nothing. */
  async archive(actor: Actor, id: string): Promise<Outcome<Workflow>> {
    return this.#change(actor, id, 'workflow.archive', async (unit, workflow) => {
      const refusal = await refuseUsed(unit, workflow.steps);
      if (!refusal) await archiveWorkflow(unit, id);
      return refusal;
    });
  }

  async #change(
    actor: Actor,
    id: string,
    action: Action,
    change: (unit: Unit, workflow: WorkflowView) => Promise<Refusal | null>,
  ): Promise<Outcome<Workflow>> {
    const seen = inScope(actor, isId(id) ? await readWorkflow(this.database, id) : null);
    if (isRefusal(seen)) return seen;
    return this.#define(actor, seen.workspace_id, action, async (unit) => {
      await lockWorkflow(unit, id);
      const workflow = await readWorkflow(unit, id);
      if (!workflow) return refuse('NOT_FOUND');
      if (workflow.archived_at) return action === 'workflow.archive' ? id : refuse('CONFLICT', { field: 'id', rule: 'not archived' });
      return (await change(unit, workflow)) ?? id;
    });
  }

  /** One definition at a time in a workspace; nothing of a refused one is stored. */
  async #define(
    actor: Actor,
    workspaceId: string,
    action: Action,
    work: (unit: Unit) => Promise<string | Refusal>,
  ): Promise<Outcome<Workflow>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    return refuseTakenName(
      refusalOf(
        this.transactions.run(async (unit) => {
          if (!(await lockDefinitions(unit, workspaceId))) return refuse('NOT_FOUND', { field: 'workspace_id' });
          const done = await work(unit);
          if (typeof done !== 'string') return orRollBack<Workflow>(done);
          const row = await readWorkflow(unit, done);
          if (!row) throw new Error(`workflow ${done} vanished in its own transaction`);
          const data = { workflow_id: row.id, name: row.name, revision: row.revision, archived: row.archived_at !== null };
          await unit.tell({ workspaceId, type: 'workflow.changed', taskId: null, sessionId: null, data });
          await insertAudit(unit, { workspaceId, actor: actorName(actor), action, subject: row.id, detail: { revision: row.revision } });
          return toWorkflow(row);
        }),
      ),
    );
  }
}

async function refuseUsed(unit: Unit, steps: readonly { readonly id: string }[]): Promise<Refusal | null> {
  const [used] = await countUses(
    unit,
    steps.map(({ id }) => id),
  );
  return used ? refuse('WORKFLOW_STEP_IN_USE', { step: used.name, tasks: used.tasks }) : null;
}

async function refuseTakenName<T extends object>(intention: Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await intention;
  } catch (error) {
    if (violatedConstraint(error) === 'workflow_workspace_id_name_key') return refuse('CONFLICT', { field: 'name', rule: 'unique' });
    throw error;
  }
}
