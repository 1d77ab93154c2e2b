/**
 * What a session may do, for those who serve its tools outside of its turn's process (autopilot-contract.md §3).
 *
 * C1  A turn keeps from its opening on what it may do, whatever becomes of the task meanwhile; between turns the rows say it. So
 *     a change takes effect as a whole at the next turn boundary (D5, D6). Authority is checked at every call besides.
 * C2  A watcher compares what it saw with what holds: however many events tell of a change, it is told once, and of none not at all.
 */
import type { DurableEvent } from '@echelon/contracts';
import { type Capability, type Contract, deriveContract, isRefusal, type PromptProfile, refuse } from '@echelon/domain';
import type { EventBus } from '@echelon/messaging';
import { type Database, findOpenTurn, findSession, findTask, type SessionRow, type TaskRow, type TurnRow } from '@echelon/persistence';
import type { AgentActor } from './actor.js';
import { eventTopic } from './event-topics.js';
import type { Outcome } from './outcome.js';
import { isId } from './scope.js';

/** A contract as its turn's row keeps it. */
export interface KeptContract {
  readonly prompt_profile: PromptProfile;
  readonly capabilities: readonly Capability[];
}

export interface WatchContract {
  /** The contract that the watcher knows. */
  readonly seen: Contract;
  /** The capabilities are others than those last seen. */
  readonly onChange: () => void;
  /** Looking failed; the next event of the session looks again. */
  readonly onError: (error: unknown) => void;
}

export class ContractService {
  constructor(
    private readonly database: Database,
    private readonly bus: Pick<EventBus, 'subscribe'>,
  ) {}

  /** The contract of a session's open turn, or else as its rows say now (C1). */
  async get(sessionId: string): Promise<Outcome<Contract>> {
    const session = isId(sessionId) ? await findSession(this.database, sessionId) : null;
    if (!session) return refuse('NOT_FOUND');
    const [task, turn] = await Promise.all([findTask(this.database, session.task_id), findOpenTurn(this.database, session.id)]);
    if (!task) throw new Error(`session ${sessionId} has lost its task`);
    return turn ? heldContract(turn, { task, session }) : contractOf(task, session);
  }

  /** Watches an agent's contract, in whichever process it changes (C2), until the returned function is called. */
  async watch(actor: AgentActor, watch: WatchContract): Promise<() => void> {
    const watcher = new Watcher(() => this.get(actor.sessionId), watch);
    const leave = await this.bus.subscribe(eventTopic(actor.workspaceId), {
      onEvent: ({ payload }) => concerns(payload, actor) && watcher.look(),
      onGap: () => watcher.look(),
    });
    watcher.look();
    return () => {
      watcher.close();
      leave();
    };
  }
}

/** The contract of a session as the rows say (F7: no text is read). */
export function contractOf(
  task: Pick<TaskRow, 'autopilot' | 'parent_id'>,
  { kind, runtime }: Pick<SessionRow, 'kind' | 'runtime'>,
): Contract {
  return deriveContract({ autopilot: task.autopilot, hasParent: task.parent_id !== null, sessionKind: kind, runtime });
}

/** The form in which a turn keeps its contract. */
export function toKeptContract({ promptProfile, capabilities }: Contract): KeptContract {
  return { prompt_profile: promptProfile, capabilities };
}

/** What an open turn may do: as it was when it opened. Turns of versions before this one have kept nothing until they are run. */
export function heldContract(
  { contract }: Pick<TurnRow, 'contract'>,
  of: { readonly task: TaskRow; readonly session: SessionRow },
): Contract {
  if (contract === null) return contractOf(of.task, of.session);
  const { prompt_profile: promptProfile, capabilities } = contract as KeptContract;
  return { promptProfile, capabilities };
}

/** Most events of a workspace are of others: those that do not even name session or task are not read. */
export function concerns(payload: string, { sessionId, taskId }: Pick<AgentActor, 'sessionId' | 'taskId'>): boolean {
  if (!payload.includes(sessionId) && !payload.includes(taskId)) return false;
  const event = JSON.parse(payload) as DurableEvent;
  return event.session_id === sessionId || event.task_id === taskId;
}

/** Looks one at a time; what happens meanwhile makes it look once more. */
class Watcher {
  #seen: string;
  #again = false;
  #looking = false;
  #closed = false;

  constructor(
    private readonly read: () => Promise<Outcome<Contract>>,
    private readonly watch: WatchContract,
  ) {
    this.#seen = toolsOf(watch.seen);
  }

  look(): void {
    this.#again = true;
    if (!this.#looking) void this.#lookOn();
  }

  close(): void {
    this.#closed = true;
  }

  async #lookOn(): Promise<void> {
    this.#looking = true;
    try {
      while (this.#again && !this.#closed) {
        this.#again = false;
        this.#compare(await this.read());
      }
    } catch (error) {
      this.watch.onError(error);
    } finally {
      this.#looking = false;
    }
  }

  /** A session that is gone has no tools to speak of: its token ends with it. */
  #compare(contract: Outcome<Contract>): void {
    if (this.#closed || isRefusal(contract) || toolsOf(contract) === this.#seen) return;
    this.#seen = toolsOf(contract);
    this.watch.onChange();
  }
}

function toolsOf({ capabilities }: Contract): string {
  return capabilities.join();
}
