import { isDriven, isRefusal, nextDelivery, refuse, type Refusal } from '@echelon/domain';
import type { EventBus } from '@echelon/messaging';
import { type Database, findAdmission, findOpenTurn, findSession, touchAttached } from '@echelon/persistence';
import type { DurableEvent, QueueEntry } from '@echelon/contracts';
import type { AgentActor } from './actor.js';
import { type AttachedAgent, type Delivery, enterTurn, IDLE_MS, leaveTurn, takeDelivery } from './attached-turn.js';
import { eventTopic } from './event-topics.js';
import type { Outcome } from './outcome.js';
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
    const changes = new Changes(AbortSignal.any([wait.signal, AbortSignal.timeout(wait.timeoutMs)]));
    const leave = await this.bus.subscribe(eventTopic(actor.workspaceId), {
      onEvent: ({ payload }) => concerns(JSON.parse(payload) as DurableEvent, actor) && changes.happened(),
      onGap: () => changes.happened(),
    });
    try {
      let finishedTurnId = wait.finishedTurnId;
      do {
        const taken = await this.#take(actor, finishedTurnId);
        if (taken) return isRefusal(taken) ? taken : present(taken);
        finishedTurnId = null;
      } while (await changes.next());
      return { message: null };
    } finally {
      leave();
    }
  }

  /**
   * A call of the agent begins: an attached session's turn goes on, or opens. Other sessions are left alone. Refuses with
   * TURN_STOPPING a call of a turn that was stopped.
   */
  async enter(actor: AgentActor): Promise<Refusal | null> {
    const agent = toAgent(actor);
    if (await touchAttached(this.database, { ...agent, idleMs: IDLE_MS })) return null;
    if (await this.#refuseDriven(actor)) return null;
    return this.transactions.run((unit) => enterTurn(unit, agent));
  }

  /** A call keeps the open turn from being idle, without opening one. */
  async touch(actor: AgentActor): Promise<void> {
    await touchAttached(this.database, { ...toAgent(actor), idleMs: IDLE_MS });
  }

  /** A call ended the attached session's turn: it is settled. */
  async leave(actor: AgentActor): Promise<void> {
    if (await this.#refuseDriven(actor)) return;
    await this.transactions.run((unit) => leaveTurn(unit, toAgent(actor)));
  }

  async #refuseDriven({ sessionId, taskId }: AgentActor): Promise<Refusal | null> {
    const session = await findSession(this.database, sessionId);
    if (session?.task_id !== taskId) return refuse('NOT_FOUND');
    return isDriven(session.runtime) ? refuse('TOOL_NOT_OFFERED') : null;
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

/** Tells a waiting call to look again; one that comes while it looks is not lost. */
class Changes {
  #pending = false;
  #wake: (() => void) | null = null;

  constructor(private readonly end: AbortSignal) {}

  happened(): void {
    this.#pending = true;
    this.#wake?.();
  }

  /** Resolves with `true` at the next change, with `false` when the wait is over. */
  async next(): Promise<boolean> {
    if (!this.#pending && !this.end.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      this.end.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      this.#wake = null;
    }
    const changed = this.#pending;
    this.#pending = false;
    return changed && !this.end.aborted;
  }
}

function concerns(event: DurableEvent, actor: AgentActor): boolean {
  return event.session_id === actor.sessionId || event.task_id === actor.taskId;
}

function toAgent({ taskId, sessionId, tokenId }: AgentActor): AttachedAgent {
  return { taskId, sessionId, owner: `external:${tokenId ?? sessionId}` };
}

function present({ turn, entry, again }: Delivery): DeliveredMessage {
  return { turn_id: turn.id, message: toQueueEntry(entry), delivered_before: again };
}
