import type { AgentProfile, Message, Page, PageQuery, QueueEntry, Session, Task, Turn } from '@echelon/contracts';
import type { Contract } from '@echelon/domain';
import type { Database } from '@echelon/persistence';
import type { Actor } from './actor.js';
import type { Outcome } from './outcome.js';
import type { Transactions } from './unit-of-work.js';

/** A session's contract as its rows say now, with what it was derived from. `folder` is below the workspace root. */
export interface SessionContract {
  readonly contract: Contract;
  readonly task: Task;
  readonly session: Session;
  readonly profile: AgentProfile;
  readonly folder: string;
}

/** A conversation of one session, or of a task's primary one. `before` and `after` are sequences of messages, exclusive. */
export interface ListMessages {
  readonly sessionId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly limit: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly types?: readonly string[] | undefined;
}

/** Sessions, their conversations and their queues. */
export class SessionService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  get(actor: Actor, id: string): Promise<Outcome<Session>> {
    throw new Error(`not built: ${String([this.database, this.transactions, actor, id])}`);
  }

  /** All sessions of a task, newest first, in one page. */
  listByTask(actor: Actor, taskId: string): Promise<Outcome<Page<Session>>> {
    throw new Error(`not built: ${String([actor, taskId])}`);
  }

  /** A page of a conversation in order; `next_cursor` is the sequence to continue from. */
  listMessages(actor: Actor, query: ListMessages): Promise<Outcome<Page<Message>>> {
    throw new Error(`not built: ${String([actor, query])}`);
  }

  listTurns(actor: Actor, sessionId: string, query: PageQuery): Promise<Outcome<Page<Turn>>> {
    throw new Error(`not built: ${String([actor, sessionId, query])}`);
  }

  listQueue(actor: Actor, sessionId: string, query: PageQuery): Promise<Outcome<Page<QueueEntry>>> {
    throw new Error(`not built: ${String([actor, sessionId, query])}`);
  }

  removeEntry(actor: Actor, sessionId: string, entryId: string): Promise<Outcome<QueueEntry>> {
    throw new Error(`not built: ${String([actor, sessionId, entryId])}`);
  }

  setAutoRun(actor: Actor, sessionId: string, on: boolean): Promise<Outcome<Session>> {
    throw new Error(`not built: ${String([actor, sessionId, on])}`);
  }

  contract(sessionId: string): Promise<Outcome<SessionContract>> {
    throw new Error(`not built: ${sessionId}`);
  }
}
