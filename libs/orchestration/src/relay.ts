/**
 * Hands committed announcements on: to this process if it has a free slot, else to the queue (K1, K2, K14).
 *
 * R1  No request waits for the relay, and no announcement for another's claim; a failure here loses nothing: the outbox row stays for
 *     the sweep.
 * R2  Only workers that reach a session's folder are told of it: what lies in another root than this process's goes to that root's queue.
 * R3  A row is deleted only when its session was claimed here or the queue took its job; then it is in nobody's way, and not urgent.
 */
import type { Job, JobQueue } from '@echelon/messaging';
import { type Database, deleteOutbox, listLeftOutbox, type OutboxRow } from '@echelon/persistence';
import { Batches } from './batches.js';
import type { CommitListener } from './unit-of-work.js';

/** How long a row may wait for the process that wrote it before the sweep takes it. */
const LEFT_AFTER_MS = 2_000;
const BATCH = 200;
const DELETE_WITHIN_MS = 20;

/** A worker of this process and the workspace root that it reaches. */
export interface DirectClaims {
  readonly rootId: string;
  /** Tries K3's claim directly after a commit; `false` when there is no free slot. */
  readonly claim: (sessionId: string) => Promise<boolean>;
}

export class Relay implements CommitListener {
  readonly #handing = new Set<Promise<void>>();
  readonly #jobs: Batches<OutboxRow>;
  readonly #deletions: Batches<string>;
  #direct: DirectClaims | null = null;

  constructor(
    private readonly database: Database,
    private readonly queue: JobQueue,
    private readonly nudgeSequencer: () => void,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#jobs = new Batches({ most: BATCH, gatherMs: 0 }, (rows) => this.#enqueue(rows), onError);
    this.#deletions = new Batches({ most: BATCH, gatherMs: DELETE_WITHIN_MS }, (ids) => deleteOutbox(this.database, ids), onError);
  }

  /** A worker of this process offers its free slots. */
  offerDirectClaims(claims: DirectClaims | null): void {
    this.#direct = claims;
  }

  committed({ wakes, told }: Parameters<CommitListener['committed']>[0]): void {
    if (told) this.nudgeSequencer();
    for (const wake of wakes) void this.#handOn(wake);
  }

  /** Announces again what a crash left, or may have left in the last moments; returns how many rows it handed on. */
  async sweep(leftAfterMs = LEFT_AFTER_MS): Promise<number> {
    const left = await listLeftOutbox(this.database, leftAfterMs, BATCH);
    await Promise.all(left.map((row) => this.#handOn(row)));
    return left.length;
  }

  /** Waits for what is being handed on. */
  async idle(): Promise<void> {
    while (this.#handing.size > 0) await Promise.all(this.#handing);
  }

  #handOn(row: OutboxRow): Promise<void> {
    const handing = this.#announce(row).finally(() => this.#handing.delete(handing));
    this.#handing.add(handing);
    return handing;
  }

  async #announce(row: OutboxRow): Promise<void> {
    const handedOn = (await this.#claimHere(row)) || (await this.#jobs.add(row));
    if (handedOn) await this.#deletions.add(row.id);
  }

  #enqueue(rows: readonly OutboxRow[]): Promise<void> {
    return this.queue.enqueue(rows.map(toJob));
  }

  async #claimHere(row: OutboxRow): Promise<boolean> {
    const direct = this.#direct;
    if (!direct || (row.root_id !== null && row.root_id !== direct.rootId)) return false;
    try {
      return await direct.claim(row.session_id);
    } catch (error) {
      this.onError(error);
      return false;
    }
  }
}

function toJob({ id, session_id, priority, root_id }: OutboxRow): Job {
  return { id: `o-${id}`, sessionId: session_id, priority, ...(root_id === null ? {} : { rootId: root_id }) };
}
