/**
 * The cap on a tree's turns (K24): all tasks below one root run at most so many turns at once, over all workers. Without a cap nothing
 * of this touches the database. Turns of attached sessions take no slot of ours and do not count.
 *
 * C1  A claim counts under the tree's lock, so no two take the last turn. One that finds the tree full leaves its session runnable.
 * C2  Whatever frees a turn announces under the same lock as many sessions as the tree has turns free, in each workspace root: as long
 *     as one is free and a session could take it, its announcement is under way (K10). A claim that finds nothing to do passes its
 *     announcement on.
 * C3  The tree's lock comes after every row lock, and no row is waited for under it (K11).
 */
import {
  countTreeTurns,
  listLineage,
  listNextInTree,
  lockTreeTurns,
  newId,
  type OutboxRow,
  type SessionRow,
  type Tx,
} from '@echelon/persistence';
import { ORDINARY, URGENT } from './priority.js';

/** Tells whether the task's tree may run one more turn, and keeps that true until the transaction ends. The caller holds the task's lock. */
export async function mayTakeTurn(tx: Tx, cap: number, taskId: string): Promise<boolean> {
  if (cap === 0) return true;
  const root = await findRoot(tx, taskId);
  await lockTreeTurns(tx, root);
  return (await countTreeTurns(tx, root)) < cap;
}

/** Whether the task's tree runs all the turns that it may, as seen now. */
export async function isTreeFull(tx: Tx, cap: number, taskId: string): Promise<boolean> {
  return cap > 0 && (await countTreeTurns(tx, await findRoot(tx, taskId))) >= cap;
}

/** Whether the session could run if its tree had a turn free. */
export async function waitsForTree(tx: Tx, cap: number, session: SessionRow): Promise<boolean> {
  return session.runnable && session.lease_owner === null && isTreeFull(tx, cap, session.task_id);
}

/** Whether a session waits for a turn of the task's full tree: whoever holds one gives it up after its turn. */
export async function othersWaitInTree(tx: Tx, cap: number, taskId: string): Promise<boolean> {
  return (await isTreeFull(tx, cap, taskId)) && (await listNextInTree(tx, await findRoot(tx, taskId), 1)).length > 0;
}

/** What the trees of these tasks run next: in each workspace root one announcement for each free turn that a session could take. */
export async function listNextTurns(tx: Tx, cap: number, taskIds: readonly string[]): Promise<readonly OutboxRow[]> {
  const roots = new Set<string>();
  for (const id of taskIds) roots.add(await findRoot(tx, id));
  const next: OutboxRow[] = [];
  for (const root of [...roots].toSorted()) {
    await lockTreeTurns(tx, root);
    const free = cap - (await countTreeTurns(tx, root));
    const sessions = free > 0 ? await listNextInTree(tx, root, free) : [];
    next.push(
      ...sessions.map(({ id, urgent, root_id }) => ({ id: newId(), session_id: id, priority: urgent ? URGENT : ORDINARY, root_id })),
    );
  }
  return next;
}

async function findRoot(tx: Tx, taskId: string): Promise<string> {
  const root = (await listLineage(tx, taskId)).at(-1);
  if (!root) throw new Error(`task ${taskId} does not exist`);
  return root;
}
