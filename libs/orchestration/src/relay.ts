/**
 * Hands committed announcements on: to this process if it has a free slot, else to the queue (K1, K2, K14).
 *
 * R1  No request waits for the relay, and a failure here loses nothing: the outbox row stays for the sweep.
 * R2  A row is deleted only when its session was claimed here or the queue took its job.
 */
import type { JobQueue } from '@echelon/messaging';
import { type Database, deleteOutbox, listLeftOutbox, type OutboxRow } from '@echelon/persistence';
import type { CommitListener } from './unit-of-work.js';

/** How long a row may wait for the process that wrote it before the sweep takes it. */
const LEFT_AFTER_MS = 2_000;
const BATCH = 200;

/** Tries K3's claim directly after a commit; `false` when there is no free slot. */
export type DirectClaim = (sessionId: string) => Promise<boolean>;

export class Relay implements CommitListener {
  readonly #pending: OutboxRow[] = [];
  #flushing: Promise<void> | null = null;
  #direct: DirectClaim | null = null;

  constructor(
    private readonly database: Database,
    private readonly queue: JobQueue,
    private readonly nudgeSequencer: () => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** A worker of this process offers its free slots. */
  offerDirectClaims(claim: DirectClaim | null): void {
    this.#direct = claim;
  }

  committed({ wakes, told }: Parameters<CommitListener['committed']>[0]): void {
    if (told) this.nudgeSequencer();
    if (wakes.length === 0) return;
    this.#pending.push(...wakes);
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = null));
  }

  /** Announces again what a crash left, or may have left in the last moments; returns how many rows it handed on. */
  async sweep(leftAfterMs = LEFT_AFTER_MS): Promise<number> {
    const left = await listLeftOutbox(this.database, leftAfterMs, BATCH);
    if (left.length > 0) await this.#handOn(left);
    return left.length;
  }

  /** Waits for what is being handed on. */
  async idle(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, BATCH);
      await this.#handOn(batch).catch(this.onError);
    }
  }

  async #handOn(rows: readonly OutboxRow[]): Promise<void> {
    const claimed = await Promise.all(rows.map((row) => this.#claimHere(row)));
    const remote = rows.filter((_, index) => !claimed[index]);
    if (remote.length > 0)
      await this.queue.enqueue(remote.map((row) => ({ id: `o-${row.id}`, sessionId: row.session_id, priority: row.priority })));
    await deleteOutbox(
      this.database,
      rows.map((row) => row.id),
    );
  }

  async #claimHere(row: OutboxRow): Promise<boolean> {
    try {
      return (await this.#direct?.(row.session_id)) ?? false;
    } catch (error) {
      this.onError(error);
      return false;
    }
  }
}
