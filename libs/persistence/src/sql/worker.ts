/** Rows of worker processes: what operators see. Liveness is the presence lock, never the row (K12). */
import type { Tx } from '../database.js';
import { isPresent } from './presence-lock.js';

export interface WorkerRow {
  readonly id: string;
  readonly presence: string;
  readonly host: string;
  readonly pid: number;
  readonly build: number;
  readonly slots: number;
  /** The workspace root that it reaches. */
  readonly rootId: string;
}

/** Registers a worker; rows of workers whose presence is gone are cleared on the way. */
export async function registerWorker(tx: Tx, worker: WorkerRow): Promise<void> {
  await tx.query(
    `WITH gone AS (DELETE FROM worker w WHERE NOT ${isPresent('w.presence')})
     INSERT INTO worker (id, presence, host, pid, build, slots, workspace_root_id) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [worker.id, worker.presence, worker.host, worker.pid, worker.build, worker.slots, worker.rootId],
  );
}

/** Notes that the worker fetched lately. */
export async function touchWorker(tx: Tx, id: string): Promise<void> {
  await tx.query('UPDATE worker SET fetched_at = clock_timestamp() WHERE id = $1', [id]);
}

export async function removeWorker(tx: Tx, id: string): Promise<void> {
  await tx.query('DELETE FROM worker WHERE id = $1', [id]);
}

/** The oldest worker build that may claim with this schema (operations.md, Upgrades). */
export async function readMinimumWorker(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ value: number }>(`SELECT value FROM setting WHERE key = 'schema.min_worker'`);
  return row?.value ?? 1;
}
