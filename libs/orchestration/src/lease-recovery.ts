/** Freeing a void lease (K10, K12, K22): the turn stays open and runnable, or closes `interrupted` after the third takeover in vain. */
import {
  backOff,
  countOtherActiveSessions,
  countTakeover,
  findOpenTurn,
  findSession,
  isLeaseLive,
  readSilence,
  releaseLease,
  type SessionRow,
  type TaskRow,
  type TurnRow,
} from '@echelon/persistence';
import { alertParent, closeTurn, lockForSettlement, moveTask } from './ending.js';
import { refreshWork } from './session-queue.js';
import type { Transactions, Unit } from './unit-of-work.js';

const BACKOFF_MS = [0, 0, 5_000, 30_000] as const;
const TAKEOVERS_AT_MOST = 3;

/** Frees the lease if it is void, and announces the session; tells whether it was. */
export async function recoverLease(transactions: Transactions, sessionId: string): Promise<boolean> {
  return transactions.run(async (unit) => {
    const found = await findSession(unit, sessionId);
    if (!found?.lease_owner) return false;
    const locked = await lockForSettlement(unit, found.task_id, { sessionId, epoch: found.lease_epoch });
    if (!locked || (await isLeaseLive(unit, sessionId))) return false;
    await releaseLease(unit, sessionId, 'idle');
    const turn = await findOpenTurn(unit, sessionId);
    if (turn) await judgeTurn(unit, locked, turn);
    await unit.tell({
      workspaceId: found.workspace_id,
      type: 'turn.recovered',
      taskId: found.task_id,
      sessionId,
      data: { turn_id: turn?.id ?? null, silent_ms: await readSilence(unit, found) },
    });
    await refreshWork(unit, sessionId);
    return true;
  });
}

async function judgeTurn(
  unit: Unit,
  { task, session }: { readonly task: TaskRow; readonly session: SessionRow },
  turn: TurnRow,
): Promise<void> {
  const takeovers = await countTakeover(unit, turn.id);
  if (takeovers >= TAKEOVERS_AT_MOST) {
    const detail = `the turn's worker died ${takeovers} times without progress`;
    await closeTurn(unit, session, turn, { outcome: 'interrupted', detail });
    if (task.parent_id) await alertParent(unit, task, { turnId: turn.id, outcome: 'interrupted', detail });
    if ((await countOtherActiveSessions(unit, task.id, session.id)) === 0) await moveTask(unit, task, 'rest');
    return;
  }
  const delay = BACKOFF_MS[takeovers] ?? 0;
  if (delay > 0) await backOff(unit, turn, delay);
}
