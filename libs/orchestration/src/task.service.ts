import type { CreatedTask, CreateTask, ListTasks, Page, RelatedTasks, StoppedTask, Task, UpdateTask } from '@echelon/contracts';
import type { Limits } from '@echelon/domain';
import type { Database } from '@echelon/persistence';
import type { Actor } from './actor.js';
import type { Outcome } from './outcome.js';
import type { Transactions } from './unit-of-work.js';

export type ArchivedTask = Task & { readonly already_archived: boolean };

/** Tasks: creation, reading, change, stop, archive. */
export class TaskService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  create(actor: Actor, input: CreateTask, idempotencyKey: string | null): Promise<Outcome<CreatedTask>> {
    throw new Error(`not built: ${String([this.database, this.transactions, this.limits, actor, input, idempotencyKey])}`);
  }

  get(actor: Actor, id: string): Promise<Outcome<Task>> {
    throw new Error(`not built: ${String([actor, id])}`);
  }

  list(actor: Actor, query: ListTasks): Promise<Outcome<Page<Task>>> {
    throw new Error(`not built: ${String([actor, query])}`);
  }

  listRelated(actor: Actor, id: string): Promise<Outcome<RelatedTasks>> {
    throw new Error(`not built: ${String([actor, id])}`);
  }

  update(actor: Actor, id: string, changes: UpdateTask): Promise<Outcome<Task>> {
    throw new Error(`not built: ${String([actor, id, changes])}`);
  }

  stop(actor: Actor, id: string, options: { readonly cascade: boolean }): Promise<Outcome<StoppedTask>> {
    throw new Error(`not built: ${String([actor, id, options])}`);
  }

  archive(actor: Actor, id: string): Promise<Outcome<ArchivedTask>> {
    throw new Error(`not built: ${String([actor, id])}`);
  }

  unarchive(actor: Actor, id: string): Promise<Outcome<Task>> {
    throw new Error(`not built: ${String([actor, id])}`);
  }
}
