/**
 * Purging deleted tasks: their rows go in small batches, then their folder, then the task itself. Events and audit stay
 * (operations.md, Deletion, Retention).
 *
 * P1  Each batch is a transaction of its own that may be repeated; a crash between two of them leaves the rest for the next pass.
 * P2  A folder goes with the last task that works in it, before the row that names it.
 */
import { type Database, isFolderShared, listPurgeable, lockDeleted, purgeSessionRows, purgeTask, purgeTurns } from '@echelon/persistence';
import type { Transactions } from './unit-of-work.js';

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

/** Purges what was deleted a while ago; returns how many tasks are gone for good. */
export async function purgeDeleted(
  database: Database,
  transactions: Transactions,
  { folders, afterSeconds = AFTER_SECONDS }: { readonly folders: TaskFolders; readonly afterSeconds?: number },
): Promise<number> {
  let gone = 0;
  for (const id of await listPurgeable(database, { afterSeconds, rootId: folders.rootId, limit: TASKS })) {
    while (await purgeBatch(transactions, id));
    if (await purgeLast(transactions, id, folders)) gone++;
  }
  return gone;
}

/** Deletes one batch of what belongs to the task; `false` when nothing was left, or another process is at it. */
function purgeBatch(transactions: Transactions, id: string): Promise<boolean> {
  return transactions.run(async (unit) => {
    if (!(await lockDeleted(unit, id))) return false;
    return (await purgeTurns(unit, id, TURNS)) > 0 || (await purgeSessionRows(unit, id, ROWS)) > 0;
  });
}

function purgeLast(transactions: Transactions, id: string, folders: TaskFolders): Promise<boolean> {
  return transactions.run(async (unit) => {
    const task = await lockDeleted(unit, id);
    if (!task) return false;
    const alone = !(await isFolderShared(unit, task));
    if (alone) await folders.remove(task.folder);
    purgeTask(unit, task, alone);
    return true;
  });
}
