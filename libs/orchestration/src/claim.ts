/**
 * Claiming a session (K3): only if nobody holds it and it has work; the turn opens in the same transaction, with the new epoch.
 * A lease that is void is freed by the sweep first, never taken over here: one place counts takeovers (K22).
 * The first claim of a folder's work places the folder in the claimer's workspace root; then only who reaches that root claims it.
 */
import { nextWork } from '@echelon/domain';
import {
  beginTurn,
  findAdmission,
  type Lease,
  type LeaseHolder,
  lockSessions,
  lockTaskOf,
  placeFolder,
  type SessionRow,
  setRunnable,
  takeLease,
  type TaskRow,
  type TurnRow,
} from '@echelon/persistence';
import { moveTask } from './ending.js';
import { priorityOfNext } from './session-queue.js';
import { mayTakeTurn } from './tree-turns.js';
import { openEntryTurn } from './turn-opening.js';
import type { Transactions, Unit } from './unit-of-work.js';

/** A turn that this process may run, and the lease that every write of it carries. */
export interface ClaimedTurn {
  readonly lease: Lease;
  readonly task: TaskRow;
  readonly session: SessionRow;
  readonly turn: TurnRow;
}

/** Who claims: a process, and the workspace root that it reaches. */
export interface Claimer extends LeaseHolder {
  readonly rootId: string;
}

/** Claims the session and its next work; `null` when it is held, has none, or its tree runs all the turns that it may (K24). */
export async function claimTurn(transactions: Transactions, sessionId: string, claimer: Claimer): Promise<ClaimedTurn | null> {
  return transactions.run(async (unit) => {
    const [[task], [session], facts] = await Promise.all([
      lockTaskOf(unit, sessionId),
      lockSessions(unit, [sessionId]),
      findAdmission(unit, sessionId),
    ]);
    if (!task || !session || !facts || session.lease_owner !== null) return null;
    const next = nextWork(facts);
    if (next.do === 'nothing') {
      setRunnable(unit, sessionId, false);
      unit.passTurn(task.id);
      return null;
    }
    if (facts.rootId !== null && facts.rootId !== claimer.rootId) {
      await unit.wake(sessionId, await priorityOfNext(unit, next), facts.rootId);
      return null;
    }
    if (!(await mayTakeTurn(unit, unit.turnsPerTree, task.id))) return null;
    const [lease, turn, started] = await Promise.all([
      takeLease(unit, sessionId, claimer),
      next.do === 'open' ? openEntryTurn(unit, { task, session }, next.entryId) : beginTurn(unit, next.turnId),
      startTask(unit, task),
      facts.rootId ?? placeFolder(unit, task, claimer.rootId),
    ]);
    return { lease, task: started, session, turn };
  });
}

async function startTask(unit: Unit, task: TaskRow): Promise<TaskRow> {
  if (task.state === 'in_progress') return task;
  return moveTask(unit, task, 'start');
}
