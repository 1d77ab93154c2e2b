import type {
  CreatedTask,
  CreateTask,
  DeletedTask,
  ListTasks,
  MovedTask,
  MoveTask,
  Page,
  RelatedTasks,
  SpawnedSession,
  SpawnSession,
  StoppedTask,
  Task,
  TaskDependencies,
  UpdateTask,
} from '@echelon/contracts';
import { canonicalText, isRefusal, type Limits, refuse, type Refusal } from '@echelon/domain';
import {
  type CreationKey,
  type Database,
  readRelatedTasks,
  readTask,
  readTasks,
  type TaskRelation,
  type TaskView,
} from '@echelon/persistence';
import type { Actor } from './actor.js';
import { hashBody, hashKey, oncePerKey } from './business-key.js';
import { type Outcome, orRollBack, refusalOf } from './outcome.js';
import { pageByCreation, readPageByCreation } from './page.js';
import { inScope, isId, scopeOf } from './scope.js';
import { spawnSession } from './session-spawn.js';
import { archiveTask, unarchiveTask } from './task-archive.js';
import { changeTask } from './task-change.js';
import { createTask } from './task-creation.js';
import { deleteTask } from './task-delete.js';
import { addDependency, removeDependency } from './task-dependency.js';
import { type TaskInput, toTaskInput } from './task-input.js';
import { stopTask } from './task-stop.js';
import { reparentTask } from './task-parent.js';
import { moveToStep } from './task-step.js';
import { toTask, toTaskSummary } from './task-view.js';
import type { Transactions, Unit } from './unit-of-work.js';

export type ArchivedTask = Task & { readonly already_archived: boolean };

/** Tasks: creation, reading, change, stop, archive. */
export class TaskService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  /**
   * Creates a task with its primary session and, unless told otherwise, starts its agent (F1–F10). An operator creates anywhere,
   * an agent below its own task. A repeated key returns the first task as `deduplicated`, with another body IDEMPOTENCY_MISMATCH
   * (F8); an agent's key is its own call id where none is given (K16).
   */
  async create(actor: Actor, input: CreateTask, idempotencyKey: string | null): Promise<Outcome<CreatedTask>> {
    const canonical = toTaskInput(input);
    const key = creationKey(actor, canonical, idempotencyKey);
    return this.transactions.run((unit) => createTask(unit, { actor, input: canonical, key, limits: this.limits }));
  }

  async get(actor: Actor, id: string): Promise<Outcome<Task>> {
    const row = await this.#find(actor, id);
    return isRefusal(row) ? row : toTask(row);
  }

  /** Tasks from new to old. */
  async list(actor: Actor, query: ListTasks): Promise<Outcome<Page<Task>>> {
    const page = readPageByCreation(query);
    if (isRefusal(page)) return page;
    const scope = scopeOf(actor, query.workspace_id);
    if (isRefusal(scope)) return scope;
    const rows = await readTasks(this.database, {
      ...page,
      ...scope,
      parentId: query.parent_id ?? null,
      rootsOnly: query.roots_only ?? false,
      state: query.state ?? null,
      includeArchived: query.include_archived ?? false,
      title: query.query === undefined ? null : canonicalText(query.query),
      workflowId: query.workflow_id ?? null,
      workflowStepId: query.workflow_step_id ?? null,
    });
    return pageByCreation(rows, query.limit, toTask);
  }

  /** The task's parent, children, siblings and dependencies, oldest first. */
  async listRelated(actor: Actor, id: string): Promise<Outcome<RelatedTasks>> {
    const task = await this.#find(actor, id);
    if (isRefusal(task)) return task;
    const rows = await readRelatedTasks(this.database, task.id);
    const those = (relation: TaskRelation) => rows.filter((row) => row.relation === relation).map(toTaskSummary);
    return {
      parent: those('parent')[0] ?? null,
      children: those('child'),
      siblings: those('sibling'),
      blocked_by: those('blocked_by'),
      blocks: those('blocks'),
    };
  }

  /** Changes title, prompt (until the task starts) or, for an operator, state; all of a call or nothing (F5). */
  async update(actor: Actor, id: string, changes: UpdateTask): Promise<Outcome<Task>> {
    const visible = await this.#find(actor, id);
    if (isRefusal(visible)) return visible;
    return refusalOf(
      this.transactions.run(async (unit) => {
        orRollBack(await changeTask(unit, { actor, id, changes, limits: this.limits }));
        return show(unit, id);
      }),
    );
  }

  /** Cancels the task's sessions and leaves it in review; for an operator or its direct parent. Descendants go on unless `cascade`. */
  async stop(actor: Actor, id: string, { cascade }: { readonly cascade: boolean }): Promise<Outcome<StoppedTask>> {
    const visible = await this.#find(actor, id);
    return isRefusal(visible) ? visible : stopTask(this.transactions, { actor, id: visible.id, cascade });
  }

  /**
   * Deletes a task for good, for an operator or its direct parent; it is gone for everybody at once. Its children become roots, or go with
   * it under `cascade`, which an agent must set where there are any. Again by the same caller, it changes nothing.
   */
  delete(actor: Actor, id: string, { cascade }: { readonly cascade: boolean }): Promise<Outcome<DeletedTask>> {
    if (!isId(id)) return Promise.resolve(refuse('NOT_FOUND'));
    return deleteTask(this.transactions, { actor, id, cascade });
  }

  /** Starts another session of the task, for an operator or its direct parent; a repeated key returns the first as `deduplicated` (M13). */
  spawnSession(actor: Actor, taskId: string, input: SpawnSession, key: string | null): Promise<Outcome<SpawnedSession>> {
    if (!isId(taskId)) return Promise.resolve(refuse('NOT_FOUND'));
    return oncePerKey(() => this.transactions.run((unit) => spawnSession(unit, { actor, taskId, input, key, limits: this.limits })));
  }

  /**
   * Moves a task to a step of a workflow of its workspace, for its own sessions, its direct parent and operators. While its turn runs
   * the move is `deferred`: it takes place when the turn ends, and is void if the turn asks its parent (A17).
   */
  async moveToStep(actor: Actor, id: string, input: MoveTask): Promise<Outcome<MovedTask>> {
    const visible = await this.#find(actor, id);
    if (isRefusal(visible)) return visible;
    return this.transactions.run(async (unit) => {
      const move = await moveToStep(unit, { actor, taskId: visible.id, input });
      return isRefusal(move) ? move : { ...(await show(unit, visible.id)), deferred: move.deferred };
    });
  }

  /** Gives a task another parent, or none with `null`: for operators; the same again changes nothing (S4, R8). */
  async reparent(actor: Actor, id: string, parentId: string | null): Promise<Outcome<Task>> {
    const visible = await this.#find(actor, id);
    if (isRefusal(visible)) return visible;
    return this.transactions.run(async (unit) => {
      const change = await reparentTask(unit, { actor, id: visible.id, parentId, limits: this.limits });
      return isRefusal(change) ? change : show(unit, visible.id);
    });
  }

  /** Makes a task wait until another has completed, for its own sessions, its direct parent and operators; a cycle is refused with its path. */
  async addDependency(actor: Actor, taskId: string, blockerId: string): Promise<Outcome<TaskDependencies>> {
    if (!isId(taskId) || !isId(blockerId)) return refuse('NOT_FOUND');
    return this.transactions.run((unit) => addDependency(unit, { actor, taskId, blockerId }));
  }

  /** Makes a task wait for another no longer, for the same callers. */
  async removeDependency(actor: Actor, taskId: string, blockerId: string): Promise<Outcome<TaskDependencies>> {
    if (!isId(taskId) || !isId(blockerId)) return refuse('NOT_FOUND');
    return this.transactions.run((unit) => removeDependency(unit, { actor, taskId, blockerId }));
  }

  /** Archives a task and ends its sessions; a second time changes nothing. */
  async archive(actor: Actor, id: string): Promise<Outcome<ArchivedTask>> {
    const visible = await this.#find(actor, id);
    if (isRefusal(visible)) return visible;
    return this.transactions.run(async (unit) => {
      const change = await archiveTask(unit, actor, visible.id);
      return isRefusal(change) ? change : { ...(await show(unit, visible.id)), already_archived: !change.changed };
    });
  }

  /** Takes a task out of the archive; a second time changes nothing. */
  async unarchive(actor: Actor, id: string): Promise<Outcome<Task>> {
    const visible = await this.#find(actor, id);
    if (isRefusal(visible)) return visible;
    return this.transactions.run(async (unit) => {
      const change = await unarchiveTask(unit, actor, visible.id);
      return isRefusal(change) ? change : show(unit, visible.id);
    });
  }

  async #find(actor: Actor, id: string): Promise<TaskView | Refusal> {
    return inScope(actor, isId(id) ? await readTask(this.database, id) : null);
  }
}

async function show(unit: Unit, id: string): Promise<Task> {
  const row = await readTask(unit, id);
  if (!row) throw new Error(`task ${id} vanished under its lock`);
  return toTask(row);
}

function creationKey(actor: Actor, input: TaskInput, given: string | null): CreationKey | null {
  const key = given ?? (actor.kind === 'agent' ? actor.callId : null);
  if (key === null) return null;
  const scope = actor.kind === 'agent' ? `session:${actor.sessionId}` : `token:${actor.tokenId}`;
  return { scope, keyHash: hashKey(key), bodyHash: hashBody(input) };
}
