/**
 * The turns that this process runs: claim, run, settle, and again while there is work (architecture.md §4).
 *
 * N1  A session is run by at most one slot here, and by one lease anywhere.
 * N2  A job's fate is never trusted: it ends when its session has nothing to do or somebody else has it (K24).
 * N3  Losing the presence or a lease ends the turn at once, without a write.
 */
import type { RuntimeKind } from '@echelon/domain';
import type { LeaseHolder, RenewedLease } from '@echelon/persistence';
import type { AgentRuntime } from './agent-runtime.js';
import { type ClaimedTurn, claimTurn } from './claim.js';
import { settle, type Settled } from './settle.js';
import type { Transactions } from './unit-of-work.js';

export interface SessionRunnerOptions {
  readonly transactions: Transactions;
  readonly runtimes: Readonly<Partial<Record<RuntimeKind, AgentRuntime>>>;
  readonly holder: LeaseHolder;
  /** Turns at once. */
  readonly slots: number;
  /** Jobs wait that this process has no slot for. */
  readonly othersWait: () => boolean;
  readonly onError: (error: unknown, about: { readonly sessionId: string }) => void;
}

interface Running {
  epoch: string;
  readonly stop: AbortController;
  readonly lost: AbortController;
}

export class SessionRunner {
  readonly #running = new Map<string, Running | null>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #handOver = new AbortController();

  constructor(private readonly options: SessionRunnerOptions) {}

  /** Slots that are free now. */
  get free(): number {
    return this.#handOver.signal.aborted ? 0 : this.options.slots - this.#running.size;
  }

  /** Claims the session and runs it to its end; returns when it is settled, or at once when there is nothing to do here. */
  async run(sessionId: string): Promise<void> {
    await this.#begin(sessionId).then((begun) => begun?.done);
  }

  /** Claims the session if a slot is free and runs it beside the caller; tells whether it was claimed (K14). */
  async offer(sessionId: string): Promise<boolean> {
    return (await this.#begin(sessionId)) !== null;
  }

  /** What the presence thread brought back: stop flags, and leases that are no longer ours. */
  renewed(leases: readonly RenewedLease[]): void {
    const found = new Map(leases.map((lease) => [lease.session_id, lease]));
    for (const [sessionId, running] of this.#running) {
      const lease = found.get(sessionId);
      if (!running || !lease) continue;
      if (lease.epoch !== running.epoch) running.lost.abort();
      else if (lease.stop) running.stop.abort();
    }
  }

  /** The presence is gone: every lease of this process is void (K12). */
  lost(): void {
    for (const running of this.#running.values()) running?.lost.abort();
  }

  /** Takes nothing new, has every turn stop at its next barrier, and waits for that (K23). */
  async handOver(): Promise<void> {
    this.#handOver.abort();
    await Promise.allSettled([...this.#tasks]);
  }

  async #begin(sessionId: string): Promise<{ readonly done: Promise<void> } | null> {
    if (this.free <= 0 || this.#running.has(sessionId)) return null;
    this.#running.set(sessionId, null);
    try {
      const claimed = await claimTurn(this.options.transactions, sessionId, this.options.holder);
      if (!claimed) {
        this.#running.delete(sessionId);
        return null;
      }
      const done = this.#runAll(claimed).finally(() => {
        this.#running.delete(sessionId);
        this.#tasks.delete(done);
      });
      this.#tasks.add(done);
      return { done };
    } catch (error) {
      this.#running.delete(sessionId);
      throw error;
    }
  }

  async #runAll(first: ClaimedTurn): Promise<void> {
    let claimed: ClaimedTurn | null = first;
    try {
      while (claimed) claimed = nextOf(await this.#runOne(claimed));
    } catch (error) {
      this.options.onError(error, { sessionId: first.session.id });
    }
  }

  async #runOne(claimed: ClaimedTurn): Promise<Settled> {
    const runtime = this.options.runtimes[claimed.session.runtime];
    if (!runtime) throw new Error(`no runtime for ${claimed.session.runtime}`);
    const running: Running = { epoch: claimed.lease.epoch, stop: new AbortController(), lost: new AbortController() };
    this.#running.set(claimed.session.id, running);
    if (claimed.turn.stop_requested_at) running.stop.abort();
    const report = await runtime.run(claimed, { stop: running.stop.signal, lost: running.lost.signal, handOver: this.#handOver.signal });
    if (running.lost.signal.aborted) return { then: 'lost' };
    return settle(this.options.transactions, claimed, report, {
      yieldToOthers: this.#handOver.signal.aborted || this.options.othersWait(),
    });
  }
}

function nextOf(settled: Settled): ClaimedTurn | null {
  return settled.then === 'run' || settled.then === 'resume' ? settled.claimed : null;
}
