/** Workspace roots, the folders that lie in them, and who reaches them (operations.md, Task folders on several machines). */
import { ChangedMeanwhile, type OpenTx, type Tx } from '../database.js';
import type { TaskRow } from '../rows.js';
import { isPresent } from './presence-lock.js';

/** SQL for the ids of the roots that a live worker reaches. */
export const REACHED_ROOTS = `SELECT w.workspace_root_id AS id FROM worker w WHERE w.workspace_root_id IS NOT NULL AND ${isPresent('w.presence')}`;

export interface WorkspaceRoot {
  readonly id: string;
  readonly host: string;
  readonly path: string;
}

/** Notes where a root was seen; one that is not known yet is taken as its marker names it. */
export function registerRoot(tx: OpenTx, { id, host, path }: WorkspaceRoot): void {
  tx.send(
    `INSERT INTO workspace_root (id, host, path) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET host = EXCLUDED.host, path = EXCLUDED.path, seen_at = clock_timestamp()`,
    [id, host, path],
  );
}

/**
 * Announces anew what is runnable in a root that nobody reaches yet, for the worker that registers next: the queue may have lost what
 * nobody could fetch. A folder that lies nowhere yet waits for any worker and is not among it.
 */
export function announceUnreached(tx: OpenTx, rootId: string): void {
  tx.send(
    `WITH waiting AS (
       SELECT s.id FROM task_folder f JOIN task t ON t.folder = f.folder JOIN session s ON s.task_id = t.id
       WHERE f.workspace_root_id = $1 AND s.runnable AND s.lease_owner IS NULL AND $1 NOT IN (${REACHED_ROOTS})),
     announced AS (UPDATE session SET announced_at = clock_timestamp(), announcements = 0 WHERE id IN (SELECT id FROM waiting))
     INSERT INTO outbox (id, session_id, priority) SELECT gen_random_uuid(), id, 2 FROM waiting`,
    [rootId],
  );
}

/** Places a folder that lies nowhere yet; where another claim placed it meanwhile, the transaction runs again. */
export async function placeFolder(tx: Tx, { folder, workspace_id }: TaskRow, rootId: string): Promise<void> {
  const placed = await tx.query(
    'INSERT INTO task_folder (folder, workspace_id, workspace_root_id) VALUES ($1, $2, $3) ON CONFLICT (folder) DO NOTHING RETURNING folder',
    [folder, workspace_id, rootId],
  );
  if (placed.length === 0) throw new ChangedMeanwhile(`the place of folder ${folder}`);
}

/** The roots that a live worker reaches. */
export async function listReachedRoots(tx: Tx): Promise<readonly string[]> {
  const rows = await tx.query<{ readonly id: string }>(`SELECT DISTINCT id FROM (${REACHED_ROOTS}) reached`);
  return rows.map(({ id }) => id);
}

export interface WorkspaceRootView extends WorkspaceRoot {
  readonly created_at: Date;
  readonly seen_at: Date;
  /** Live workers that reach it. */
  readonly workers: number;
  /** Sessions in it that could run and that nobody holds. */
  readonly waiting_sessions: number;
}

/** All roots, the oldest first. */
export function readWorkspaceRoots(tx: Tx): Promise<readonly WorkspaceRootView[]> {
  return tx.query<WorkspaceRootView>(
    `SELECT r.id, r.host, r.path, r.created_at, r.seen_at, (SELECT count(*)::int FROM (${REACHED_ROOTS}) reached WHERE reached.id = r.id) AS workers,
       (SELECT count(*)::int FROM session s JOIN task t ON t.id = s.task_id JOIN task_folder f ON f.folder = t.folder
        WHERE f.workspace_root_id = r.id AND s.runnable AND s.lease_owner IS NULL) AS waiting_sessions
     FROM workspace_root r ORDER BY r.created_at, r.id`,
  );
}
