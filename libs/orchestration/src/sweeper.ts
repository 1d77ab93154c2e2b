/**
 * The backstop (K10, K12): one elected process frees void leases every 200 ms, and looks every 5 s for what nothing announced.
 * In fair weather no wake-up needs it.
 */
import { DEFAULT_RETENTION, type Retention } from '@echelon/domain';
import {
  countAnnouncement,
  type Database,
  listDue,
  listExpiredQuestions,
  listExpiredUserQuestions,
  listForgotten,
  listVoidLeases,
  lockSessions,
  type SessionRow,
} from '@echelon/persistence';
import { expireUserQuestion } from './ask-user.js';
import { expireQuestion } from './ending.js';
import { recoverLease } from './lease-recovery.js';
import type { Logger } from './logger.js';
import type { Relay } from './relay.js';
import type { Sequencer } from './sequencer.js';
import { refreshWork } from './session-queue.js';
import { applyRetention } from './retention.js';
import { resumeDeletions } from './task-delete.js';
import { purgeDeleted, type TaskFolders } from './task-purge.js';
import { resumeCascades } from './task-stop.js';
import { isTreeFull } from './tree-turns.js';
import type { Transactions } from './unit-of-work.js';

const BATCH = 100;
const RETENTION_MS = 60_000;

export interface SweeperOptions {
  readonly database: Database;
  readonly transactions: Transactions;
  readonly relay: Relay;
  readonly sequencer: Sequencer;
  readonly log: Logger;
  /** This process sweeps for all. */
  readonly elected: () => boolean;
  /** Folders of tasks in this process' reach; where absent it purges nothing. */
  readonly folders?: TaskFolders;
  /** Days that things are kept; the defaults where absent. */
  readonly retention?: Retention;
  readonly presenceEveryMs?: number;
  readonly restEveryMs?: number;
  /** A runnable session is announced again after so long, or after twice the queue's oldest wait where that is longer (K10). */
  readonly announceAfterMs?: number;
  readonly oldestWaitMs?: () => Promise<number>;
}

export class Sweeper {
  #timers: NodeJS.Timeout[] = [];
  #passes = new Set<Promise<void>>();
  #begun = false;

  constructor(private readonly options: SweeperOptions) {}

  readonly #failed = (error: unknown, what: string): void => this.options.log.error({ error, what }, 'sweep.failed');

  start(): void {
    const { database, retention = DEFAULT_RETENTION, presenceEveryMs = 200, restEveryMs = 5_000 } = this.options;
    this.#timers = [
      this.#every(presenceEveryMs, () => this.sweepLeases()),
      this.#every(restEveryMs, () => this.sweepRest()),
      this.#every(RETENTION_MS, () => applyRetention(database, retention, this.#failed)),
      this.#every(
        restEveryMs,
        () => this.sweepDeleted(),
        () => true,
      ),
    ];
  }

  /**
   * Frees void leases; returns how many. A process that died left announcements too: after the first pass and after each that
   * frees a lease they are taken at once, young ones included; announcing for a process that lives is harmless (K2).
   */
  async sweepLeases(): Promise<number> {
    let freed = 0;
    for (const { id } of await listVoidLeases(this.options.database, BATCH)) {
      await this.#attempt('lease', async () => {
        if (!(await recoverLease(this.options.transactions, id))) return;
        freed++;
        this.options.log.info({ sessionId: id }, 'lease.recovered');
      });
    }
    const first = !this.#begun;
    this.#begun = true;
    if (freed > 0 || first) await this.#attempt('outbox', () => this.options.relay.sweep(0));
    return freed;
  }

  /** One pass over everything else that a crash or a lost queue may have left. */
  async sweepRest(): Promise<void> {
    const { database, transactions, relay, sequencer } = this.options;
    await this.#attempt('outbox', () => relay.sweep());
    await this.#attempt('events', () => sequencer.stampAll());
    await this.#attempt('cascades', () => resumeCascades(database, transactions));
    await this.#attempt('deletions', () => resumeDeletions(database, transactions));
    await this.#each('questions', listExpiredQuestions(database, BATCH), (id) => expireQuestion(transactions, id));
    await this.#each('questions', listExpiredUserQuestions(database, BATCH), (id) => expireUserQuestion(transactions, id));
    await this.#each('waits', listDue(database, BATCH), (id) => this.#refresh(id, { lost: false }));
    const forgotten = listForgotten(database, await this.#announceAfterMs(), BATCH);
    await this.#each('forgotten', forgotten, (id) => this.#refresh(id, { lost: true }));
  }

  /** One pass over deleted tasks whose folders this process reaches: every process has its own. */
  async sweepDeleted(afterSeconds?: number): Promise<void> {
    const { database, transactions, log, folders } = this.options;
    if (!folders) return;
    await this.#attempt('deleted', () =>
      purgeDeleted(database, transactions, { folders, log, ...(afterSeconds === undefined ? {} : { afterSeconds }) }),
    );
  }

  /** A backlog is no loss: what waits in the queue is not announced again, nor counted as lost. */
  async #announceAfterMs(): Promise<number> {
    const { announceAfterMs = 30_000, oldestWaitMs = () => Promise.resolve(0) } = this.options;
    return Math.max(announceAfterMs, 2 * (await oldestWaitMs()));
  }

  /** One thing that fails keeps nothing else from being swept. */
  async #attempt(what: string, step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#failed(error, what);
    }
  }

  async #each(what: string, found: Promise<readonly { readonly id: string }[]>, step: (id: string) => Promise<unknown>): Promise<void> {
    await this.#attempt(what, async () => {
      for (const { id } of await found) await this.#attempt(what, () => step(id));
    });
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.allSettled([...this.#passes]);
  }

  /** `lost`: the session had work and an announcement that led to nothing, though its tree could run it; in fair weather that never happens. */
  async #refresh(sessionId: string, { lost }: { readonly lost: boolean }): Promise<void> {
    await this.options.transactions.run(async (unit) => {
      const [session] = await lockSessions(unit, [sessionId]);
      if (!session) return;
      await countAnnouncement(unit, sessionId);
      const next = await refreshWork(unit, sessionId);
      const waits = lost && (await isTreeFull(unit, unit.turnsPerTree, session.task_id));
      if (lost && next.do !== 'nothing' && !waits) await unit.tell(lostWake(session));
    });
  }

  #every(milliseconds: number, pass: () => Promise<unknown>, mine = this.options.elected): NodeJS.Timeout {
    let busy = false;
    return setInterval(() => {
      if (busy || !mine()) return;
      busy = true;
      const running: Promise<void> = pass()
        .then(
          () => undefined,
          (error: unknown) => this.options.log.error({ error }, 'sweep.failed'),
        )
        .finally(() => {
          busy = false;
          this.#passes.delete(running);
        });
      this.#passes.add(running);
    }, milliseconds);
  }
}

function lostWake(session: SessionRow) {
  return { workspaceId: session.workspace_id, type: 'wake.lost', taskId: session.task_id, sessionId: session.id, data: {} } as const;
}
