/**
 * Freeing a void lease (K10, K12, K22): the turn stays open and runnable, or closes `interrupted`: after the third takeover in vain, or
 * at the first where it cannot go on in its middle.
 */
import { isDriven, isResumable } from '@echelon/domain';
import { backOff, countTakeover, findOpenTurn, findSession, isLeaseLive, readSilence } from '@echelon/persistence';
import { endIdleTurn } from './attached-turn.js';
import type { ClaimedTurn } from './claim.js';
import { lockForSettlement } from './ending.js';
import { tellInterrupted } from './interrupted-turn.js';
import { refreshWork, release } from './session-queue.js';
import { endTurn } from './settle.js';
import type { Transactions, Unit } from './unit-of-work.js';

const BACKOFF_MS = [0, 0, 5_000, 30_000] as const;
const TAKEOVERS_AT_MOST = 3;

/** Frees the lease if it is void, and announces the session; tells whether it was. */
export async function recoverLease(transactions: Transactions, sessionId: string): Promise<boolean> {
  return transactions.run(async (unit) => {
    const found = await findSession(unit, sessionId);
    if (!found?.lease_owner) return false;
    const lease = { sessionId, epoch: found.lease_epoch };
    const locked = await lockForSettlement(unit, found.task_id, lease);
    if (!locked || (await isLeaseLive(unit, sessionId))) return false;
    await release(unit, locked.session, 'idle');
    const turn = await findOpenTurn(unit, sessionId);
    if (!isDriven(found.runtime)) {
      if (turn) await endIdleTurn(unit, { ...locked, lease, turn });
      return true;
    }
    if (turn) await judgeTurn(unit, { ...locked, lease, turn });
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

/** The prompt may have been sent, and nobody can go on with what its agent began; one that is to stop is ended by its next holder. */
function isLost({ session, turn }: ClaimedTurn): boolean {
  return !isResumable(session.runtime) && turn.system_prompt !== null && turn.stop_requested_at === null;
}

/** A turn that asked has ended with its question, whose answer opens the next one; of any other somebody is told. */
async function closeLost(unit: Unit, held: ClaimedTurn): Promise<void> {
  const asked = held.turn.ended_by_question_id !== null;
  if (!asked) await tellInterrupted(unit, held.turn);
  const ending = asked
    ? ({ outcome: 'tool_ended_turn', detail: null } as const)
    : ({ outcome: 'interrupted', detail: 'its worker ended in the middle of it' } as const);
  await endTurn(unit, held, ending, { yieldToOthers: true });
}

async function judgeTurn(unit: Unit, held: ClaimedTurn): Promise<void> {
  if (isLost(held)) return closeLost(unit, held);
  const takeovers = await countTakeover(unit, held.turn.id);
  if (takeovers >= TAKEOVERS_AT_MOST) {
    const detail = `the turn's worker died ${takeovers} times without progress`;
    await endTurn(unit, held, { outcome: 'interrupted', detail }, { yieldToOthers: true });
    return;
  }
  const delay = BACKOFF_MS[takeovers] ?? 0;
  if (delay > 0) await backOff(unit, held.turn, delay);
}
