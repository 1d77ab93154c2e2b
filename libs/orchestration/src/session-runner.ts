/**
 * The turns that this process runs: claim, run, settle, and again while there is work (architecture.md §4).
 *
 * N1  A session is run by at most one slot here, and by one lease anywhere.
 * N2  A job ends when its session has been looked at with a free slot, never before: a job that ends too early is a lost wake-up (K24).
 * N3  Losing the presence or a lease ends the turn at once, without a write.
 * N4  A lease whose turn broke is held no longer: what is not reported as held is not renewed, and the sweep takes it (K10, K22).
 */
import type { RuntimeKind } from '@echelon/domain';
import type { HeldLease } from '@echelon/persistence';
import type { AgentRuntime } from './agent-runtime.js';
import { type ClaimedTurn, type Claimer, claimTurn } from './claim.js';
import { settle, type Settled } from './settle.js';
import type { Transactions } from './unit-of-work.js';

export interface SessionRunnerOptions {
  readonly transactions: Transactions;
  readonly runtimes: Readonly<Partial<Record<RuntimeKind, AgentRuntime>>>;
  readonly claimer: Claimer;
  /** Turns at once. */
  readonly slots: number;
  /** Hears which sessions are held here, whenever that changes: they and no others are renewed. */
  readonly onHeld: (sessionIds: readonly string[]) => void;
  readonly onError: (error: unknown, about: { readonly sessionId: string }) => void;
}

/** A turn that runs here. */
interface Running {
  readonly epoch: string;
  readonly stop: AbortController;
  readonly lost: AbortController;
}

/** A job came to a process that takes nothing new: the queue is to deliver it again. */
export class HandedOverError extends Error {
  override readonly name = 'HandedOverError';
}

export class SessionRunner {
  /** Sessions that have a slot here, with the end of their run. */
  readonly #slots = new Map<string, Promise<void>>();
  readonly #running = new Map<string, Running>();
  readonly #waiting = new Set<() => void>();
  readonly #handOver = new AbortController();

  constructor(private readonly options: SessionRunnerOptions) {}

  /** Looks at the session as soon as a slot is free and nobody here runs it; returns when it is settled or has nothing to do. */
  async run(sessionId: string): Promise<void> {
    while (this.#slots.has(sessionId) || this.#slots.size >= this.options.slots) {
      this.#refuseWhenHandedOver();
      await (this.#slots.get(sessionId) ?? this.#slotFreed());
    }
    this.#refuseWhenHandedOver();
    const claiming = this.#claim(sessionId);
    const done = claiming.then((begun) => begun?.done);
    this.#occupy(sessionId, done);
    await done;
  }

  /** Claims the session if a slot is free and runs it beside the caller; tells whether it was claimed (K14). */
  async offer(sessionId: string): Promise<boolean> {
    if (this.#handOver.signal.aborted || this.#slots.has(sessionId) || this.#slots.size >= this.options.slots) return false;
    const claiming = this.#claim(sessionId);
    this.#occupy(
      sessionId,
      claiming.then((begun) => begun?.done),
    );
    return (await claiming) !== null;
  }

  /** What the presence thread found: stop flags, and leases that are no longer ours. */
  renewed(leases: readonly HeldLease[]): void {
    for (const lease of leases) {
      const running = this.#running.get(lease.session_id);
      if (!running) continue;
      if (!lease.ours || BigInt(lease.epoch) > BigInt(running.epoch)) running.lost.abort();
      else if (lease.stop) running.stop.abort();
    }
  }

  /** The presence is gone: every lease of this process is void (K12). */
  lost(): void {
    for (const running of this.#running.values()) running.lost.abort();
  }

  /** Takes nothing new, has every turn stop at its next barrier, and waits for that (K23). */
  async handOver(): Promise<void> {
    this.#handOver.abort();
    this.#wakeWaiting();
    await Promise.allSettled([...this.#slots.values()]);
  }

  #refuseWhenHandedOver(): void {
    if (this.#handOver.signal.aborted) throw new HandedOverError('this worker takes nothing new');
  }

  #slotFreed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #wakeWaiting(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Holds a slot for the session until `done` settles. */
  #occupy(sessionId: string, done: Promise<void>): void {
    const freed = done
      .catch(() => undefined)
      .then(() => {
        this.#slots.delete(sessionId);
        this.#wakeWaiting();
      });
    this.#slots.set(sessionId, freed);
  }

  async #claim(sessionId: string): Promise<{ readonly done: Promise<void> } | null> {
    const claimed = await claimTurn(this.options.transactions, sessionId, this.options.claimer);
    return claimed && { done: this.#runAll(claimed) };
  }

  async #runAll(first: ClaimedTurn): Promise<void> {
    let claimed: ClaimedTurn | null = first;
    try {
      while (claimed) claimed = nextOf(await this.#runOne(claimed));
    } catch (error) {
      this.options.onError(error, { sessionId: first.session.id });
    } finally {
      this.#running.delete(first.session.id);
      this.#report();
    }
  }

  async #runOne(claimed: ClaimedTurn): Promise<Settled> {
    const runtime = this.options.runtimes[claimed.session.runtime];
    if (!runtime) throw new Error(`no runtime for ${claimed.session.runtime}`);
    const running: Running = { epoch: claimed.lease.epoch, stop: new AbortController(), lost: new AbortController() };
    this.#running.set(claimed.session.id, running);
    this.#report();
    if (claimed.turn.stop_requested_at) running.stop.abort();
    const report = await runtime.run(claimed, { stop: running.stop.signal, lost: running.lost.signal, handOver: this.#handOver.signal });
    if (running.lost.signal.aborted) return { then: 'lost' };
    return settle(this.options.transactions, claimed, report, { yieldToOthers: this.#handOver.signal.aborted || this.#waiting.size > 0 });
  }

  #report(): void {
    this.options.onHeld([...this.#running.keys()]);
  }
}

function nextOf(settled: Settled): ClaimedTurn | null {
  return settled.then === 'run' || settled.then === 'resume' ? settled.claimed : null;
}
