import { isDriven, isRefusal, nextDelivery, refuse, type Refusal } from '@echelon/domain';
import type { EventBus } from '@echelon/messaging';
import { type Database, findAdmission, findOpenTurn, findSession, listQueue, touchAttached } from '@echelon/persistence';
import type { Page, PageQuery, QueueEntry } from '@echelon/contracts';
import type { AgentActor } from './actor.js';
import {
  type AttachedAgent,
  type Delivery,
  type EnteredTurn,
  enterTurn,
  findDelivery,
  IDLE_MS,
  leaveTurn,
  takeDelivery,
} from './attached-turn.js';
import { concerns } from './contract.service.js';
import { eventTopic } from './event-topics.js';
import type { Outcome } from './outcome.js';
import { readPageByPlace, toPage } from './page.js';
import { toQueueEntry } from './session-view.js';
import type { Transactions } from './unit-of-work.js';

export interface WaitForMessages {
  /** The turn that the agent has finished: the id that came with its last delivery. */
  readonly finishedTurnId: string | null;
  readonly timeoutMs: number;
  /** The caller went away, or this process closes. */
  readonly signal: AbortSignal;
}

export interface DeliveredMessage {
  readonly turn_id: string;
  readonly message: QueueEntry;
  readonly delivered_before: boolean;
}

export interface Inbox extends Page<QueueEntry> {
  /** What the open turn was opened with; `null` where none is open, or where the agent opened it by itself. */
  readonly delivered: DeliveredMessage | null;
}

/** Sessions whose agent somebody else runs: it fetches its entries, and its calls are its turns (autopilot-contract.md §1). */
export class AttachedService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly bus: EventBus,
  ) {}

  /**
   * Gives the session's next message as soon as there is one; `message: null` when none came in time. While it waits it holds
   * neither a database connection nor a worker: an event of the session makes it look again. Refuses with TOOL_NOT_OFFERED where
   * we run the session's turns ourselves, with SESSION_TERMINAL when it has ended.
   */
  async waitForMessage(actor: AgentActor, wait: WaitForMessages): Promise<Outcome<DeliveredMessage | { readonly message: null }>> {
    const refusal = await this.#refuseDriven(actor);
    if (refusal) return refusal;
    const changes = new Changes(wait);
    try {
      const leave = await this.bus.subscribe(eventTopic(actor.workspaceId), {
        onEvent: ({ payload }) => concerns(payload, actor) && changes.happened(),
        onGap: () => changes.happened(),
      });
      try {
        return await this.#takeNext(actor, wait.finishedTurnId, changes);
      } finally {
        leave();
      }
    } finally {
      changes.close();
    }
  }

  /** What waits for the session, and what was handed out to it in the turn that is open, without taking anything. */
  async readInbox(actor: AgentActor, query: PageQuery): Promise<Outcome<Inbox>> {
    const [refusal, page] = [await this.#refuseDriven(actor), readPageByPlace(query)];
    if (refusal) return refusal;
    if (isRefusal(page)) return page;
    const [rows, delivery] = await Promise.all([
      listQueue(this.database, actor.sessionId, page),
      findDelivery(this.database, actor.sessionId),
    ]);
    return { ...toPage(rows, query.limit, toQueueEntry, ({ rank, order }) => [rank, order]), delivered: delivery && present(delivery) };
  }

  /**
   * A call of the agent begins: an attached session's turn goes on, or opens, and is given. Other sessions are left alone. Refuses
   * with TURN_STOPPING a call of a turn that was stopped.
   */
  async enter(actor: AgentActor): Promise<EnteredTurn | Refusal> {
    const agent = toAgent(actor);
    const turnId = await touchAttached(this.database, { ...agent, idleMs: IDLE_MS });
    if (turnId || (await this.#refuseDriven(actor))) return { turnId };
    return this.transactions.run((unit) => enterTurn(unit, agent));
  }

  /** A call keeps the open turn from being idle, without opening one. */
  async touch(actor: AgentActor): Promise<void> {
    await touchAttached(this.database, { ...toAgent(actor), idleMs: IDLE_MS });
  }

  /** A call ended the turn that it had entered: it is settled, if no other call has settled it. */
  async leave(actor: AgentActor, { turnId }: EnteredTurn): Promise<void> {
    if (turnId) await this.transactions.run((unit) => leaveTurn(unit, toAgent(actor), turnId));
  }

  async #refuseDriven({ sessionId, taskId }: AgentActor): Promise<Refusal | null> {
    const session = await findSession(this.database, sessionId);
    if (session?.task_id !== taskId) return refuse('NOT_FOUND');
    return isDriven(session.runtime) ? refuse('TOOL_NOT_OFFERED') : null;
  }

  async #takeNext(
    actor: AgentActor,
    finished: string | null,
    changes: Changes,
  ): Promise<Outcome<DeliveredMessage | { readonly message: null }>> {
    let finishedTurnId = finished;
    do {
      const taken = await this.#take(actor, finishedTurnId);
      if (taken) return isRefusal(taken) ? taken : present(taken);
      finishedTurnId = null;
    } while (await changes.next());
    return { message: null };
  }

  /** Looks without a lock first: a wait that finds nothing takes none. */
  async #take(actor: AgentActor, finishedTurnId: string | null): Promise<Delivery | Refusal | null> {
    const [facts, turn] = await Promise.all([findAdmission(this.database, actor.sessionId), findOpenTurn(this.database, actor.sessionId)]);
    if (!facts) return refuse('NOT_FOUND');
    const next = nextDelivery(facts);
    if (!turn && next.do === 'nothing' && next.because !== 'terminal') return null;
    return this.transactions.run((unit) => takeDelivery(unit, toAgent(actor), finishedTurnId));
  }
}

/**
 * Tells a waiting call to look again. One that comes while it looks is not lost, and many that come meanwhile are one. It has one
 * listener and one timer, however often it looks; whoever opens it closes it.
 */
class Changes {
  #pending = false;
  #wake: (() => void) | null = null;
  #over: boolean;
  readonly #timer: NodeJS.Timeout;
  readonly #end = () => {
    this.#over = true;
    this.#wake?.();
  };

  constructor(private readonly wait: Pick<WaitForMessages, 'timeoutMs' | 'signal'>) {
    this.#over = wait.signal.aborted;
    this.#timer = setTimeout(this.#end, wait.timeoutMs);
    wait.signal.addEventListener('abort', this.#end);
  }

  happened(): void {
    this.#pending = true;
    this.#wake?.();
  }

  /** Resolves with `true` at the next change, with `false` when the wait is over. */
  async next(): Promise<boolean> {
    if (!this.#pending && !this.#over) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = null;
    const changed = this.#pending;
    this.#pending = false;
    return changed && !this.#over;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.wait.signal.removeEventListener('abort', this.#end);
  }
}

function toAgent({ taskId, sessionId, tokenId }: AgentActor): AttachedAgent {
  return { taskId, sessionId, owner: `external:${tokenId ?? sessionId}` };
}

function present({ turn, entry, again }: Delivery): DeliveredMessage {
  return { turn_id: turn.id, message: toQueueEntry(entry), delivered_before: again };
}
