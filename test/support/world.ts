/** A database of one spec's own, the services of orchestration on it, and tasks made with the statements that the product uses. */
import type { LoopStop } from '@echelon/agent-loop';
import {
  DEFAULT_LIMITS,
  isRefusal,
  type Limits,
  type RuntimeKind,
  type SessionKind,
  type TaskEvent,
  type TaskState,
} from '@echelon/domain';
import {
  countChildIn,
  createPool,
  Database,
  findSession,
  findTask,
  insertPrimarySession,
  insertTask,
  newId,
  type QueueEntryRow,
  type SessionRow,
  type TaskRow,
} from '@echelon/persistence';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';
import { FailingDatabase } from './failing-database.js';
import { reachRoot, ROOT } from './reached-root.js';
import type { AgentActor, OperatorActor } from '../../libs/orchestration/src/actor.js';
import { claimTurn, type ClaimedTurn } from '../../libs/orchestration/src/claim.js';
import { endSession, lockFamilies, moveTask, type SessionEndCause } from '../../libs/orchestration/src/ending.js';
import { MessageService } from '../../libs/orchestration/src/message.service.js';
import { QuestionService } from '../../libs/orchestration/src/question.service.js';
import { settle, type Settled } from '../../libs/orchestration/src/settle.js';
import { TurnService } from '../../libs/orchestration/src/turn.service.js';
import { enqueue } from '../../libs/orchestration/src/session-queue.js';
import { type CommitListener, Transactions, type Unit } from '../../libs/orchestration/src/unit-of-work.js';

const CLAIMER = { owner: 'spec', presence: null, leaseMs: 600_000, rootId: ROOT.id };

export interface TaskOptions {
  readonly parent?: TestTask | null;
  readonly autopilot?: boolean;
  readonly state?: TaskState;
  readonly title?: string;
  readonly runtime?: RuntimeKind;
}

export interface TestServices {
  readonly questions: QuestionService;
  readonly messages: MessageService;
  readonly turns: TurnService;
}

export interface TestTask {
  readonly id: string;
  readonly sessionId: string;
}

export class World {
  /** Sessions that committed transactions announced, in order. */
  readonly announced: string[] = [];
  readonly transactions: Transactions;
  readonly services: TestServices;
  readonly operator: OperatorActor = { kind: 'operator', tokenId: newId(), operatorId: newId(), name: 'Ada' };

  private constructor(
    readonly database: Database,
    private readonly place: { readonly test: TestDatabase; readonly workspaceId: string; readonly profileId: string },
    readonly limits: Limits,
    private readonly drop: () => Promise<void>,
  ) {
    this.transactions = this.#transactionsOn(database);
    this.services = this.#servicesOn(database);
  }

  /** Opens a database with one workspace; `limits` override the defaults. */
  static async open(limits: Partial<Limits> = {}): Promise<World> {
    const test = await createTestDatabase();
    const database = new Database(createPool(test.url, { max: 16 }));
    const leaveRoot = await reachRoot(test.url, database);
    const drop = async () => {
      await leaveRoot();
      await database.close();
      await test.drop();
    };
    const place = { test, ...(await insertWorkspaceAndProfile(database)) };
    return new World(database, place, { ...DEFAULT_LIMITS, ...limits }, drop);
  }

  /** The same world through another door to its database, which the caller closes. */
  through(database: Database): World {
    return new World(database, this.place, this.limits, () => Promise.resolve());
  }

  /** A workspace of its own in the same database: changes of structure there wait for none here. */
  async elsewhere(): Promise<World> {
    const place = { ...this.place, ...(await insertWorkspaceAndProfile(this.database)) };
    return new World(this.database, place, this.limits, () => Promise.resolve());
  }

  /** The same world with some limits changed. */
  limitedTo(limits: Partial<Limits>): World {
    return new World(this.database, this.place, { ...this.limits, ...limits }, () => Promise.resolve());
  }

  /** The same services, as a process that was started anew has them. */
  restarted(): TestServices {
    return this.#servicesOn(this.database);
  }

  /** The same services on a database whose n-th statement of a transaction fails. */
  failingAt(statement: number): TestServices {
    return this.#servicesOn(new FailingDatabase(this.database, statement));
  }

  #transactionsOn(database: Pick<Database, 'transaction'>): Transactions {
    const committed: CommitListener['committed'] = ({ wakes }) => this.announced.push(...wakes.map(({ session_id }) => session_id));
    return new Transactions(database as Database, { committed }, this.limits.turns_per_tree);
  }

  #servicesOn(database: Pick<Database, 'transaction'>): TestServices {
    const transactions = this.#transactionsOn(database);
    return {
      questions: new QuestionService(this.database, transactions, this.limits),
      messages: new MessageService(this.database, transactions, this.limits),
      turns: new TurnService(this.database, transactions, this.limits),
    };
  }

  /** Where its database is. */
  get url(): string {
    return this.place.test.url;
  }

  /** Runs statements as the owner of the tables. */
  asOwner(statements: string): Promise<void> {
    return this.place.test.asOwner(statements);
  }

  get workspaceId(): string {
    return this.place.workspaceId;
  }

  close(): Promise<void> {
    return this.drop();
  }

  /** A task with its primary session, as creation leaves them; its first prompt is not queued. */
  async task(options: TaskOptions = {}): Promise<TestTask> {
    const { parent = null, autopilot = false, state = 'ready', title = 'A task', runtime = 'loop' } = options;
    return this.transactions.run(async (unit) => {
      const id = newId();
      const above = parent && (await findTask(unit, parent.id));
      await insertTask(unit, {
        id,
        workspaceId: this.workspaceId,
        parentId: parent?.id ?? null,
        depth: above ? above.depth + 1 : 0,
        title,
        titleSource: 'manual',
        prompt: 'Do it.',
        autopilot,
        state,
        profileId: this.place.profileId,
        workspaceMode: 'new_workspace',
        folder: id,
        startWhenUnblocked: true,
        createdBySessionId: null,
        idempotency: null,
      });
      if (parent) await countChildIn(unit, parent.id);
      const session = await insertPrimarySession(unit, {
        workspaceId: this.workspaceId,
        taskId: id,
        runtime,
        profileId: this.place.profileId,
      });
      return { id, sessionId: session.id };
    });
  }

  /** Another session of a task, newer than those it has. */
  async session(task: TestTask, options: { readonly kind?: SessionKind; readonly runtime?: RuntimeKind } = {}): Promise<string> {
    const id = newId();
    await this.database.query(
      `INSERT INTO session (id, workspace_id, task_id, kind, runtime, profile_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp())`,
      [id, this.workspaceId, task.id, options.kind ?? 'task', options.runtime ?? 'loop', this.place.profileId],
    );
    return id;
  }

  agent(task: TestTask, options: { readonly sessionId?: string; readonly turnId?: string; readonly callId?: string } = {}): AgentActor {
    const { sessionId = task.sessionId, turnId = null, callId = null } = options;
    return { kind: 'agent', workspaceId: this.workspaceId, taskId: task.id, sessionId, turnId, callId };
  }

  /** Puts an ordinary prompt into the session's queue. */
  async prompt(sessionId: string, text = 'Go on.'): Promise<QueueEntryRow> {
    const prompt = { sessionId, rank: 3, kind: 'prompt', text, senderKind: 'operator' } as const;
    return this.transactions.run(async (unit) => (await enqueue(unit, prompt)).entry);
  }

  /** Claims the session's next work; fails where it has none. */
  async claim(sessionId: string): Promise<ClaimedTurn> {
    const claimed = await claimTurn(this.transactions, sessionId, CLAIMER);
    if (!claimed) throw new Error(`session ${sessionId} has nothing to claim`);
    return claimed;
  }

  /** Claims the session's next work, or gives null. */
  tryClaim(sessionId: string): Promise<ClaimedTurn | null> {
    return claimTurn(this.transactions, sessionId, CLAIMER);
  }

  /** A turn of the session, opened by an ordinary prompt. */
  async openTurn(sessionId: string): Promise<ClaimedTurn> {
    await this.prompt(sessionId);
    return this.claim(sessionId);
  }

  /** Ends a claimed turn as the runner does when the model has finished. */
  endTurn(claimed: ClaimedTurn): Promise<Settled> {
    return this.#settle(claimed, { reason: 'completed' });
  }

  /** Parks a claimed turn as the runner does when a call waits for its result. */
  parkTurn(claimed: ClaimedTurn): Promise<Settled> {
    return this.#settle(claimed, { reason: 'parked', for: [{ kind: 'result', callId: 'call-1', waitsFor: 'an answer' }] });
  }

  /** Hands a claimed turn over as a runner that shuts down does: it stays open, and nobody holds it. */
  handOver(claimed: ClaimedTurn): Promise<Settled> {
    return this.#settle(claimed, { reason: 'handed_over' });
  }

  #settle(claimed: ClaimedTurn, stop: LoopStop): Promise<Settled> {
    return settle(this.transactions, claimed, { stop, record: () => Promise.resolve() }, { yieldToOthers: true });
  }

  /** Moves the task under the locks that an end needs. */
  async move(task: TestTask, event: TaskEvent): Promise<void> {
    await this.run(async (unit) => moveTask(unit, present((await lockFamilies(unit, [task.id])).tasks.get(task.id)), event));
  }

  /** Ends one session of the task as `cancelled`. */
  async endSession(task: TestTask, sessionId: string, cause: SessionEndCause = 'session_ended'): Promise<void> {
    await this.run(async (unit) => {
      const { sessions } = await lockFamilies(unit, [task.id]);
      await endSession(unit, present(sessions.find(({ id }) => id === sessionId)), 'cancelled', cause);
    });
  }

  run<T>(work: (unit: Unit) => Promise<T>): Promise<T> {
    return this.transactions.run(work);
  }

  async rows<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.database.query<Row>(sql, values);
  }

  entries(sessionId: string): Promise<readonly QueueEntryRow[]> {
    return this.rows<QueueEntryRow>('SELECT * FROM queue_entry WHERE session_id = $1 ORDER BY "order"', [sessionId]);
  }

  async sessionRow(id: string): Promise<SessionRow> {
    return present(await findSession(this.database, id));
  }

  async taskRow(id: string): Promise<TaskRow> {
    return present(await findTask(this.database, id));
  }
}

/** The value, or a failure that names the refusal. */
export function accepted<T extends object>(outcome: T): Exclude<T, { readonly refused: true }> {
  if (isRefusal(outcome)) throw new Error(`refused: ${outcome.code} ${JSON.stringify(outcome.details)}`);
  return outcome as Exclude<T, { readonly refused: true }>;
}

function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('no such row');
  return value;
}

async function insertWorkspaceAndProfile(database: Database): Promise<{ readonly workspaceId: string; readonly profileId: string }> {
  const [workspaceId, profileId] = [newId(), newId()];
  await database.query('INSERT INTO workspace (id, name) VALUES ($1, $2)', [workspaceId, `Workspace ${workspaceId}`]);
  await database.query(
    `INSERT INTO agent_profile (id, workspace_id, name, runtime, provider, model) VALUES ($1, $2, 'Default', 'loop', 'scripted', 'scripted')`,
    [profileId, workspaceId],
  );
  return { workspaceId, profileId };
}
