/**
 * The backstop (K10, K12): one elected process frees void leases every 200 ms, and looks every 5 s for what nothing announced.
 * In fair weather no wake-up needs it.
 */
import type { Logger } from './logger.js';
import {
  countAnnouncement,
  type Database,
  listDue,
  listExpiredQuestions,
  listForgotten,
  listVoidLeases,
  lockSessions,
  type SessionRow,
} from '@echelon/persistence';
import { expireQuestion } from './ending.js';
import { recoverLease } from './lease-recovery.js';
import type { Relay } from './relay.js';
import type { Sequencer } from './sequencer.js';
import { refreshWork } from './session-queue.js';
import { resumeCascades } from './task-stop.js';
import type { Transactions } from './unit-of-work.js';

const BATCH = 100;

export interface SweeperOptions {
  readonly database: Database;
  readonly transactions: Transactions;
  readonly relay: Relay;
  readonly sequencer: Sequencer;
  readonly log: Logger;
  /** This process sweeps for all. */
  readonly elected: () => boolean;
  readonly presenceEveryMs?: number;
  readonly restEveryMs?: number;
  /** A runnable session is announced again after so long. */
  readonly announceAfterMs?: number;
}

export class Sweeper {
  #timers: NodeJS.Timeout[] = [];
  #passes = new Set<Promise<void>>();
  #begun = false;

  constructor(private readonly options: SweeperOptions) {}

  start(): void {
    const { presenceEveryMs = 200, restEveryMs = 5_000 } = this.options;
    this.#timers = [this.#every(presenceEveryMs, () => this.sweepLeases()), this.#every(restEveryMs, () => this.sweepRest())];
  }

  /**
   * Frees void leases; returns how many. A process that died left announcements too: after the first pass and after each that
   * frees a lease they are taken at once, young ones included; announcing for a process that lives is harmless (K2).
   */
  async sweepLeases(): Promise<number> {
    let freed = 0;
    for (const { id } of await listVoidLeases(this.options.database, BATCH)) {
      if (!(await recoverLease(this.options.transactions, id))) continue;
      freed++;
      this.options.log.info({ sessionId: id }, 'lease.recovered');
    }
    const first = !this.#begun;
    this.#begun = true;
    if (freed > 0 || first) await this.options.relay.sweep(0);
    return freed;
  }

  /** One pass over everything else that a crash or a lost queue may have left. */
  async sweepRest(): Promise<void> {
    const { database, transactions, relay, sequencer, announceAfterMs = 30_000 } = this.options;
    await relay.sweep();
    await sequencer.stampAll();
    await resumeCascades(database, transactions);
    for (const { id } of await listExpiredQuestions(database, BATCH)) await expireQuestion(transactions, id);
    for (const { id } of await listDue(database, BATCH)) await this.#refresh(id, { lost: false });
    for (const { id } of await listForgotten(database, announceAfterMs, BATCH)) await this.#refresh(id, { lost: true });
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.allSettled([...this.#passes]);
  }

  /** `lost`: the session had work and an announcement that led to nothing; in fair weather that never happens. */
  async #refresh(sessionId: string, { lost }: { readonly lost: boolean }): Promise<void> {
    await this.options.transactions.run(async (unit) => {
      const [session] = await lockSessions(unit, [sessionId]);
      if (!session) return;
      await countAnnouncement(unit, sessionId);
      const next = await refreshWork(unit, sessionId);
      if (lost && next.do !== 'nothing') await unit.tell(lostWake(session));
    });
  }

  #every(milliseconds: number, pass: () => Promise<unknown>): NodeJS.Timeout {
    let busy = false;
    return setInterval(() => {
      if (busy || !this.options.elected()) return;
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
