import type { Message, Page, PageQuery, QueueEntry, Session, Turn } from '@echelon/contracts';
import { CHANGEABLE, isRefusal, type Refusal, refuse, sessionMachine } from '@echelon/domain';
import {
  cancelEntry,
  type Database,
  findEntry,
  findTask,
  insertAudit,
  listMessages,
  listQueue,
  listTurns,
  lockSessions,
  type QueueEntryRow,
  readSession,
  readSessionsOfTask,
  type SessionRow,
  type SessionView,
  setAutoRun,
  type Tx,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import type { Outcome } from './outcome.js';
import { readPageByNumber, readPageByPlace, toPage } from './page.js';
import { inScope, isId } from './scope.js';
import { followChange, refreshWork } from './session-queue.js';
import { toMessage, toQueueEntry, toSession, toTurn } from './session-view.js';
import { waitsForTree } from './tree-turns.js';
import type { Transactions, Unit } from './unit-of-work.js';

/** A conversation: of a session, or of a task's primary session. `before` and `after` are sequences of messages, exclusive. */
export interface ListMessages {
  readonly sessionId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly limit: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly types?: readonly string[] | undefined;
  /** What a subagent said, by the call that started it; absent: the session's own conversation, without its subagents. */
  readonly threadId?: string | undefined;
}

/** Sessions, their conversations and their queues. */
export class SessionService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  async get(actor: Actor, id: string): Promise<Outcome<Session>> {
    const row = await this.#find(actor, id);
    return isRefusal(row) ? row : this.#show(this.database, row);
  }

  /** All sessions of a task, from new to old, in one page. */
  async listByTask(actor: Actor, taskId: string): Promise<Outcome<Page<Session>>> {
    const sessions = await this.#sessionsOf(actor, taskId);
    if (isRefusal(sessions)) return sessions;
    return { items: await Promise.all(sessions.rows.map((row) => this.#show(this.database, row))), next_cursor: null };
  }

  /**
   * A part of a conversation in its order: the last `limit` messages, those before `before`, or those after `after`. `next_cursor`
   * is the sequence to pass next, as `after` where `after` was given, else as `before`. Hidden messages are for operators (V2).
   */
  async listMessages(actor: Actor, query: ListMessages): Promise<Outcome<Page<Message>>> {
    if (query.before !== undefined && query.after !== undefined)
      return refuse('INVALID_INPUT', { field: 'after', rule: 'not with before' });
    const session = await this.#conversation(actor, query);
    if (isRefusal(session)) return session;
    const rows = await listMessages(this.database, session.id, {
      before: query.before ?? null,
      after: query.after ?? null,
      types: query.types ?? null,
      threadId: query.threadId ?? null,
      withHidden: actor.kind === 'operator',
      take: query.limit + 1,
    });
    const more = rows.length > query.limit;
    const shown = query.after === undefined ? rows.slice(-query.limit) : rows.slice(0, query.limit);
    const edge = query.after === undefined ? shown.at(0) : shown.at(-1);
    return { items: shown.map(toMessage), next_cursor: more && edge ? String(edge.sequence) : null };
  }

  /** Turns from new to old. */
  async listTurns(actor: Actor, sessionId: string, query: PageQuery): Promise<Outcome<Page<Turn>>> {
    const page = readPageByNumber(query);
    if (isRefusal(page)) return page;
    const session = await this.#find(actor, sessionId);
    if (isRefusal(session)) return session;
    return toPage(await listTurns(this.database, session.id, page), query.limit, toTurn, (turn) => [turn.number]);
  }

  /** Entries that wait, in the order of their delivery; their text is shown to operators, sender and receiver only. */
  async listQueue(actor: Actor, sessionId: string, query: PageQuery): Promise<Outcome<Page<QueueEntry>>> {
    const page = readPageByPlace(query);
    if (isRefusal(page)) return page;
    const session = await this.#find(actor, sessionId);
    if (isRefusal(session)) return session;
    const rows = await listQueue(this.database, session.id, page);
    const view = (entry: QueueEntryRow) => (readsEntry(actor, session, entry) ? toQueueEntry(entry) : { ...toQueueEntry(entry), text: '' });
    return toPage(rows, query.limit, view, (entry) => [entry.rank, entry.order]);
  }

  /**
   * Takes a waiting entry out of a queue: an operator's or its sender's choice. Questions, their
   * reminders, answers and notices stay, since somebody waits for them; refuses with ENTRY_NOT_QUEUED what was delivered already.
   */
  async removeEntry(actor: Actor, sessionId: string, entryId: string): Promise<Outcome<QueueEntry>> {
    return this.#change(actor, sessionId, async (unit, session) => {
      const entry = isId(entryId) ? await findEntry(unit, entryId) : null;
      if (entry?.session_id !== session.id) return refuse('NOT_FOUND');
      if (actor.kind === 'agent' && entry.sender_session_id !== actor.sessionId) return refuse('FORBIDDEN');
      if (!CHANGEABLE[entry.kind].remove) return refuse('FORBIDDEN', { kind: entry.kind });
      const removed = await cancelEntry(unit, entry.id, 'removed');
      if (!removed) return refuse('ENTRY_NOT_QUEUED', { state: entry.state });
      await insertAudit(unit, { workspaceId: session.workspace_id, actor: actorName(actor), action: 'entry.remove', subject: entry.id });
      await followChange(unit, [removed]);
      return toQueueEntry(removed);
    });
  }

  /** Pauses or resumes a session's queue; entries are kept. An operator's choice, or the direct parent's. */
  async setAutoRun(actor: Actor, sessionId: string, on: boolean): Promise<Outcome<Session>> {
    return this.#change(actor, sessionId, async (unit, session) => {
      const refusal = await refuseStranger(unit, actor, session);
      if (refusal) return refusal;
      if (sessionMachine.isTerminal(session.state)) return refuse('SESSION_TERMINAL', { state: session.state });
      if (session.auto_run !== on) {
        await setAutoRun(unit, session.id, on);
        const action = on ? 'queue.resume' : 'queue.pause';
        await insertAudit(unit, { workspaceId: session.workspace_id, actor: actorName(actor), action, subject: session.id });
        await unit.tell({ ...about(session), type: 'session.updated', data: { state: session.state, auto_run: on } });
        await refreshWork(unit, session.id);
      }
      const changed = await readSession(unit, session.id);
      return changed ? this.#show(unit, changed) : refuse('NOT_FOUND');
    });
  }

  async #show(tx: Tx, row: SessionView): Promise<Session> {
    return toSession(row, await waitsForTree(tx, this.transactions.turnsPerTree, row));
  }

  async #find(actor: Actor, id: string): Promise<SessionView | Refusal> {
    return inScope(actor, isId(id) ? await readSession(this.database, id) : null);
  }

  async #sessionsOf(actor: Actor, taskId: string): Promise<{ readonly rows: readonly SessionView[] } | Refusal> {
    const task = inScope(actor, isId(taskId) ? await findTask(this.database, taskId) : null);
    return isRefusal(task) ? task : { rows: await readSessionsOfTask(this.database, task.id) };
  }

  async #conversation(actor: Actor, { sessionId, taskId }: ListMessages): Promise<SessionView | Refusal> {
    if (taskId === undefined) return sessionId === undefined ? refuse('INVALID_INPUT', { field: 'task_id' }) : this.#find(actor, sessionId);
    const sessions = await this.#sessionsOf(actor, taskId);
    if (isRefusal(sessions)) return sessions;
    const { rows } = sessions;
    if (sessionId !== undefined) return rows.find(({ id }) => id === sessionId) ?? refuse('SESSION_NOT_OF_TASK');
    return rows.find((session) => session.is_primary) ?? rows[0] ?? refuse('NO_SESSION');
  }

  async #change<T extends object>(
    actor: Actor,
    sessionId: string,
    change: (unit: Unit, session: SessionRow) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    return this.transactions.run(async (unit) => {
      const [locked] = isId(sessionId) ? await lockSessions(unit, [sessionId]) : [];
      const session = inScope(actor, locked);
      return isRefusal(session) ? session : change(unit, session);
    });
  }
}

function readsEntry(actor: Actor, session: SessionRow, entry: QueueEntryRow): boolean {
  return actor.kind === 'operator' || actor.taskId === session.task_id || actor.taskId === entry.sender_task_id;
}

async function refuseStranger(unit: Unit, actor: Actor, session: SessionRow): Promise<Refusal | null> {
  if (actor.kind === 'operator') return null;
  const task = await findTask(unit, session.task_id);
  return task?.parent_id === actor.taskId ? null : refuse('NOT_DIRECT_PARENT');
}

function about(session: SessionRow): { readonly workspaceId: string; readonly taskId: string; readonly sessionId: string } {
  return { workspaceId: session.workspace_id, taskId: session.task_id, sessionId: session.id };
}
