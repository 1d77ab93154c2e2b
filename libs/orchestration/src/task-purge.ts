/**
 * Purging deleted tasks: their rows go in small batches, then their folder, then the task itself. Events and audit stay
 * (operations.md, Deletion, Retention).
 *
 * P1  Each batch is a transaction of its own that may be repeated; a crash between two of them leaves the rest for the next pass.
 * P2  A folder goes with the last task that works in it, before the row that names it and outside of any transaction: nobody comes to a
 *     folder of which all tasks are deleted, and one that is gone may be removed again.
 * P3  What cannot be purged keeps nothing else from it: it is told, passed over, and tried again in the next pass.
 */
import { type Database, isFolderShared, listPurgeable, lockDeleted, purgeSessionRows, purgeTask, purgeTurns } from '@echelon/persistence';
import type { Logger } from './logger.js';
import type { Transactions, Unit } from './unit-of-work.js';

const TASKS = 100;
const TURNS = 20;
const ROWS = 1_000;
/** By then whoever ran a turn of the task has lost its lease and ended its commands. */
const AFTER_SECONDS = 60;

/** The task folders that this process reaches. */
export interface TaskFolders {
  /** The workspace root where they lie. */
  readonly rootId: string;
  /** Deletes a folder with all that is in it; one that is not there is fine. */
  remove(folder: string): Promise<void>;
}

export interface Purge {
  readonly folders: TaskFolders;
  readonly log: Logger;
  readonly afterSeconds?: number;
}

/** Purges what was deleted a while ago, at most a page of it; returns how many tasks are gone for good. */
export async function purgeDeleted(
  database: Database,
  transactions: Transactions,
  { folders, log, afterSeconds = AFTER_SECONDS }: Purge,
): Promise<number> {
  const stuck: string[] = [];
  let gone = 0;
  for (let seen = -1; seen < stuck.length;) {
    seen = stuck.length;
    for (const id of await listPurgeable(database, { afterSeconds, rootId: folders.rootId, except: stuck, limit: TASKS })) {
      try {
        if (await purgeOne(transactions, id, folders)) gone++;
      } catch (error) {
        log.error({ error, what: 'deleted', taskId: id }, 'sweep.failed');
        stuck.push(id);
      }
    }
  }
  return gone;
}

/** Purges one task; `false` when another process is at it. */
async function purgeOne(transactions: Transactions, id: string, folders: TaskFolders): Promise<boolean> {
  for (let removed = false; ;) {
    const done = await transactions.run((unit) => purgeBatch(unit, id, removed));
    if (done === 'held' || done === 'gone') return done === 'gone';
    if (done === 'part') continue;
    await folders.remove(done.folder);
    removed = true;
  }
}

/**
 * Deletes one batch of what belongs to the task, at last the task itself. Its folder is to be removed first where it is the last one in
 * it: another process may have purged the others since this one looked.
 */
async function purgeBatch(unit: Unit, id: string, removed: boolean): Promise<'held' | 'part' | 'gone' | { readonly folder: string }> {
  const task = await lockDeleted(unit, id);
  if (!task) return 'held';
  if ((await purgeTurns(unit, id, TURNS)) > 0 || (await purgeSessionRows(unit, id, ROWS)) > 0) return 'part';
  const alone = !(await isFolderShared(unit, task));
  if (alone && !removed) return { folder: task.folder };
  purgeTask(unit, task, alone);
  return 'gone';
}
