import type { DeletedTaskPlan, FoundTaskPlan, TaskPlan, WriteTaskPlan, WrittenTaskPlan } from '@echelon/contracts';
import {
  canonicalText,
  decidePlanWrite,
  isRefusal,
  type Limits,
  type PlanIntention,
  type PlanWriter,
  refuse,
  type Refusal,
  refusePlanWriter,
  taskMachine,
} from '@echelon/domain';
import {
  ChangedMeanwhile,
  type Database,
  deletePlan,
  findPlan,
  findPlanWrite,
  findTask,
  insertAudit,
  insertPlanWrite,
  listLineage,
  lockSessions,
  lockTasks,
  type PlanRow,
  type StoredPlan,
  type TaskRow,
  writePlan,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { hashBody, hashKey } from './business-key.js';
import { refuseCaller, sessionOf } from './caller-authority.js';
import { checkBytes, checkGraphemes } from './limit-checks.js';
import type { Outcome } from './outcome.js';
import { inScope, isId } from './scope.js';
import type { Transactions, Unit } from './unit-of-work.js';

type WriteIntention = Exclude<PlanIntention, 'delete'>;

interface PlanCall {
  readonly actor: Actor;
  readonly taskId: string;
  readonly intention: PlanIntention;
  /** `null`: the call has no identity, and what it says decides alone. */
  readonly key: string | null;
  /** Arguments in canonical form. */
  readonly body: object;
}

interface PlanText {
  readonly content: string;
  readonly title: string | null;
  readonly expectedRevision: number | null;
}

/** What a call left: revision 0 where there was nothing to delete. */
interface Left {
  readonly revision: number;
  readonly deduplicated: boolean;
}

/**
 * The one plan of each task.
 *
 * P1  Sessions of the task and of its direct parent write it, and operators; every agent of the same tree reads it.
 * P2  Writers hold the task's lock. A repeated key returns what its first call left and changes nothing, whatever came since (K16).
 * P3  Revisions only rise, across deletions too: an expected revision is never met by another text.
 */
export class TaskPlanService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  /** The plan, or `null` where the task has none; FORBIDDEN to an agent of another tree. */
  async get(actor: Actor, taskId: string): Promise<Outcome<FoundTaskPlan>> {
    const task = inScope(actor, isId(taskId) ? await findTask(this.database, taskId) : null);
    if (isRefusal(task)) return task;
    if (actor.kind === 'agent' && !(await this.#isSameTree(actor.taskId, task.id)))
      return refuse('FORBIDDEN', { field: 'task_id', rule: 'a task of your own tree' });
    const plan = present(await findPlan(this.database, task.id));
    return { task_id: task.id, plan: plan && toTaskPlan(plan) };
  }

  /** Writes the first plan; where there is another, CONFLICT names the update. */
  create(actor: Actor, taskId: string, input: WriteTaskPlan, key: string | null): Promise<Outcome<WrittenTaskPlan>> {
    return this.#write({ actor, taskId, key, intention: 'create' }, input);
  }

  /** Replaces the plan; CONFLICT with the present revision unless it is the expected one. */
  update(actor: Actor, taskId: string, input: WriteTaskPlan, key: string | null): Promise<Outcome<WrittenTaskPlan>> {
    return this.#write({ actor, taskId, key, intention: 'update' }, input);
  }

  /** Creates or replaces the plan. */
  put(actor: Actor, taskId: string, input: WriteTaskPlan, key: string | null): Promise<Outcome<WrittenTaskPlan>> {
    return this.#write({ actor, taskId, key, intention: 'put' }, input);
  }

  /** Deletes the plan; where there is none, nothing changes. */
  async delete(actor: Actor, taskId: string, key: string | null): Promise<Outcome<DeletedTaskPlan>> {
    const left = await this.#change({ actor, taskId, key, intention: 'delete', body: {} }, async (unit, task, row) => {
      const deleted = await deletePlan(unit, task.id, actorName(actor));
      if (deleted) await tell(unit, actor, { row: deleted, title: row?.title ?? '', change: 'deleted' });
      return { revision: deleted?.revision ?? 0, deduplicated: false };
    });
    return isRefusal(left) ? left : { task_id: taskId, deleted: left.revision > 0 };
  }

  async #write(
    call: Omit<PlanCall, 'body' | 'intention'> & { readonly intention: WriteIntention },
    input: WriteTaskPlan,
  ): Promise<Outcome<WrittenTaskPlan>> {
    const text = toPlanText(input);
    const left = await this.#change({ ...call, body: text }, async (unit, task, row) => {
      const tooLong = this.#checkText(text);
      if (tooLong) return tooLong;
      const plan = present(row);
      const decided = decidePlanWrite(plan, { ...text, intention: call.intention });
      if (isRefusal(decided)) return decided;
      if (plan && !decided.changed) return { revision: plan.revision, deduplicated: true };
      const by = actorName(call.actor);
      const key = { taskId: task.id, workspaceId: task.workspace_id };
      const written = await writePlan(unit, { ...key, title: decided.title, content: text.content, over: row?.revision ?? 0, by });
      if (!written) throw new ChangedMeanwhile('the plan of a task');
      await tell(unit, call.actor, { row: written, title: written.title, change: plan ? 'updated' : 'created' });
      return { revision: written.revision, deduplicated: false };
    });
    return isRefusal(left) ? left : { task_id: call.taskId, ...left };
  }

  /** Authority, then the key, then the work, under the locks of the task and of the caller. */
  async #change(
    call: PlanCall,
    work: (unit: Unit, task: TaskRow, row: PlanRow | null) => Promise<Left | Refusal>,
  ): Promise<Left | Refusal> {
    const { actor, taskId, intention } = call;
    if (!isId(taskId)) return refuse('NOT_FOUND');
    return this.transactions.run(async (unit) => {
      const locked = await lockTasks(unit, actor.kind === 'agent' ? [taskId, actor.taskId] : [taskId]);
      await lockSessions(unit, sessionOf(actor));
      const task = inScope(
        actor,
        locked.find(({ id }) => id === taskId),
      );
      if (isRefusal(task)) return task;
      const writer = writerOf(actor, task);
      const earlier = writer === 'other' ? null : await replay(unit, task, call);
      if (earlier) return earlier;
      const standing = { ended: taskMachine.isTerminal(task.state), archived: task.archived_at !== null };
      const refusal = refusePlanWriter(writer, intention, standing) ?? (await refuseCaller(unit, actor, locked));
      if (refusal) return refusal;
      const left = await work(unit, task, await findPlan(unit, task.id));
      return isRefusal(left) ? left : remember(unit, task, call, left);
    });
  }

  #checkText({ content, title }: PlanText): Refusal | null {
    const tooLong = checkBytes(this.limits, 'plan_bytes', 'content', content);
    return tooLong ?? (title === null ? null : checkGraphemes(this.limits, 'title_graphemes', 'title', title));
  }

  async #isSameTree(one: string, other: string): Promise<boolean> {
    if (one === other) return true;
    const [first, second] = await Promise.all([listLineage(this.database, one), listLineage(this.database, other)]);
    return first.at(-1) === second.at(-1);
  }
}

function present(row: PlanRow | null): StoredPlan | null {
  return row && row.content !== null ? { ...row, content: row.content } : null;
}

function writerOf(actor: Actor, task: TaskRow): PlanWriter {
  if (actor.kind === 'operator') return 'operator';
  if (actor.taskId === task.id) return 'own';
  return actor.taskId === task.parent_id ? 'parent' : 'other';
}

function toPlanText(input: WriteTaskPlan): PlanText {
  const content = canonicalText(input.content);
  const title = input.title === undefined ? null : canonicalText(input.title).trim();
  return { content, title, expectedRevision: input.expected_revision ?? null };
}

function keyHashOf(actor: Actor, key: string): Buffer {
  return hashKey(`${actor.kind === 'agent' ? `session:${actor.sessionId}` : `token:${actor.tokenId}`}:${key}`);
}

function bodyHashOf({ intention, body }: PlanCall): Buffer {
  return hashBody({ ...body, intention });
}

async function replay(unit: Unit, task: TaskRow, call: PlanCall): Promise<Left | Refusal | null> {
  const earlier = call.key === null ? null : await findPlanWrite(unit, task.id, keyHashOf(call.actor, call.key));
  if (!earlier) return null;
  return earlier.body_hash.equals(bodyHashOf(call)) ? { revision: earlier.revision, deduplicated: true } : refuse('IDEMPOTENCY_MISMATCH');
}

async function remember(unit: Unit, task: TaskRow, call: PlanCall, left: Left): Promise<Left> {
  if (call.key === null) return left;
  await insertPlanWrite(unit, {
    taskId: task.id,
    workspaceId: task.workspace_id,
    keyHash: keyHashOf(call.actor, call.key),
    body_hash: bodyHashOf(call),
    revision: left.revision,
  });
  return left;
}

interface PlanChange {
  readonly row: PlanRow;
  readonly title: string;
  readonly change: 'created' | 'updated' | 'deleted';
}

async function tell(unit: Unit, actor: Actor, { row, title, change }: PlanChange): Promise<void> {
  const { workspace_id: workspaceId, task_id: taskId, revision } = row;
  const sessionId = actor.kind === 'agent' && actor.taskId === taskId ? actor.sessionId : null;
  await unit.tell({ workspaceId, type: 'task.plan_changed', taskId, sessionId, data: { task_id: taskId, change, title, revision } });
  await insertAudit(unit, { workspaceId, actor: actorName(actor), action: 'task.plan', subject: taskId, detail: { change, revision } });
}

function toTaskPlan(row: StoredPlan): TaskPlan {
  return {
    task_id: row.task_id,
    title: row.title,
    content: row.content,
    revision: row.revision,
    updated_by: row.updated_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
