/**
 * Settlement: closing a turn, deciding what follows and giving the lease back are one transaction under the session's lock,
 * the lock that an enqueuer takes (K5). Parking is a settlement too (K13).
 */
import type { Wait } from '@echelon/agent-loop';
import {
  nextDelivery,
  nextWork,
  type ParkReason,
  PARK_EVENTS,
  type Settlement,
  settleTurn,
  turnMachine,
  type TurnOutcome,
} from '@echelon/domain';
import {
  beginTurn,
  ChangedMeanwhile,
  countActiveSessions,
  findOpenTurn,
  loadAdmission,
  parkTurn,
  type SessionRow,
  setWakeAt,
} from '@echelon/persistence';
import type { TurnReport, TurnStop } from './agent-runtime.js';
import type { ClaimedTurn } from './claim.js';
import { alertParent, closeTurn, lockForRest, lockForSettlement, moveTask } from './ending.js';
import { tellInterrupted } from './interrupted-turn.js';
import { followUpQuestions } from './question-follow-up.js';
import { refreshWork, release } from './session-queue.js';
import { settleStep } from './settle-step.js';
import { othersWaitInTree } from './tree-turns.js';
import { detailOf, findStepOf, holdStepOf, outcomeOf, reachesOthers } from './turn-end.js';
import { openEntryTurn } from './turn-opening.js';
import type { Transactions, Unit } from './unit-of-work.js';

/** What the holder does after a settlement. */
export type Settled =
  | { readonly then: 'released' }
  /** The lease was lost before; nothing was written. */
  | { readonly then: 'lost' }
  /** The next entry's turn is open under the same lease. */
  | { readonly then: 'run'; readonly claimed: ClaimedTurn }
  /** What the turn waited for is decided already: run it on. */
  | { readonly then: 'resume'; readonly claimed: ClaimedTurn };

export interface SettleOptions {
  /** Others wait for this worker's slots: do not drain here (K24). */
  readonly yieldToOthers: boolean;
}

/** Settles what the runtime reported. Exactly one of park, hand-over and end happens, or nothing if the lease is lost. */
export async function settle(
  transactions: Transactions,
  claimed: ClaimedTurn,
  report: TurnReport,
  options: SettleOptions,
): Promise<Settled> {
  const { stop } = report;
  if (stop.reason === 'error' && stop.kind === 'lease_lost') return { then: 'lost' };
  return transactions.run(async (unit) => {
    const held = await lockTurn(unit, claimed, stop);
    if (!held) return { then: 'lost' };
    await report.record(unit);
    if (held.turn.stop_requested_at) return end(unit, held, stop, options);
    if (stop.reason === 'handed_over' || stop.reason === 'next_round') return handOver(unit, held);
    return stop.reason === 'parked' ? park(unit, held, stop.for) : end(unit, held, stop, options);
  });
}

/** Locks no more than this end of the turn may touch, by a step that stays as it is until the commit; `null` when the lease is lost or nothing is open any more. */
async function lockTurn(unit: Unit, claimed: ClaimedTurn, stop: TurnStop): Promise<ClaimedTurn | null> {
  const { session, task, lease } = claimed;
  const seen = await findOpenTurn(unit, session.id);
  const wide = seen !== null && (await reachesOthers(unit, { ...claimed, turn: seen }, stop, findStepOf));
  const [locked, turn] = wide
    ? [await lockForSettlement(unit, task.id, lease), await findOpenTurn(unit, session.id)]
    : await Promise.all([lockForRest(unit, task.id, lease), findOpenTurn(unit, session.id)]);
  if (!locked || !turn) return null;
  const held = { ...claimed, ...locked, turn };
  if (!wide && (await reachesOthers(unit, held, stop, holdStepOf))) throw new ChangedMeanwhile('how a turn ends');
  return held;
}

async function handOver(unit: Unit, claimed: ClaimedTurn): Promise<Settled> {
  await release(unit, claimed.session, 'idle');
  await refreshWork(unit, claimed.session.id);
  return { then: 'released' };
}

async function park(unit: Unit, claimed: ClaimedTurn, waits: readonly Wait[]): Promise<Settled> {
  const reason = parkReason(waits);
  const status = turnMachine.next('running', PARK_EVENTS[reason]);
  if (!status) throw new Error(`a running turn cannot wait for ${reason}`);
  await parkTurn(unit, claimed.turn.id, { status, reason });
  if (reason === 'retry')
    await setWakeAt(unit, claimed.session.id, Math.max(...waits.map((wait) => (wait.kind === 'retry' ? wait.milliseconds : 0))));
  const next = nextWork(await loadAdmission(unit, claimed.session.id));
  if (next.do === 'resume') return { then: 'resume', claimed: { ...claimed, turn: await beginTurn(unit, claimed.turn.id) } };
  await release(unit, claimed.session, 'parked');
  await refreshWork(unit, claimed.session.id);
  if ((await countActiveSessions(unit, claimed.task.id, claimed.session.id)) === 0) await moveTask(unit, claimed.task, 'wait');
  await unit.tell({ ...about(claimed.session), type: 'turn.parked', data: { turn_id: claimed.turn.id, for: reason } });
  return { then: 'released' };
}

function parkReason(waits: readonly Wait[]): ParkReason {
  const kinds: Readonly<Record<Wait['kind'], ParkReason>> = { approval: 'approval', result: 'user_answer', retry: 'retry' };
  const first = waits[0];
  if (!first) throw new Error('a parked turn waits for something');
  return kinds[first.kind];
}

async function end(unit: Unit, claimed: ClaimedTurn, stop: TurnStop, options: SettleOptions): Promise<Settled> {
  const outcome = outcomeOf(claimed, stop) ?? 'interrupted';
  if (stop.reason === 'interrupted' && outcome === 'interrupted') await tellInterrupted(unit, claimed.turn);
  return endTurn(unit, claimed, { outcome, detail: detailOf(stop) }, options);
}

/** Closes a turn and does what follows from that: the one end, for the holder's settlement and for a turn that no holder will end. */
export async function endTurn(
  unit: Unit,
  claimed: ClaimedTurn,
  ending: { readonly outcome: TurnOutcome; readonly detail: string | null },
  options: SettleOptions,
): Promise<Settled> {
  const { turn, session } = claimed;
  const [, seen, others, place] = await Promise.all([
    closeTurn(unit, session, turn, ending),
    loadAdmission(unit, session.id),
    countActiveSessions(unit, claimed.task.id, session.id),
    holdStepOf(unit, claimed.task),
  ]);
  const { step, task, facts } = await settleStep(unit, claimed, { outcome: ending.outcome, place, facts: seen });
  const decided = settleTurn({
    outcome: ending.outcome,
    step,
    hasParent: task.parent_id !== null,
    questionPending: facts.questionPending !== false,
    next: nextDelivery(facts),
    otherSessionActive: others > 0,
    yieldToOthers: options.yieldToOthers || (await othersWaitInTree(unit, unit.turnsPerTree, task.id)),
  });
  if (decided.alertsParent) await alertParent(unit, task, { turnId: turn.id, ...ending, missesSignal: step === 'misses_signal' });
  return apply(unit, { ...claimed, task }, decided);
}

async function apply(unit: Unit, claimed: ClaimedTurn, decided: Settlement): Promise<Settled> {
  const { session, task } = claimed;
  if (decided.completesTask) {
    await moveTask(unit, task, 'complete', { result: claimed.turn.completion_signal?.summary ?? '' });
    return { then: 'released' };
  }
  if (decided.drains) {
    return { then: 'run', claimed: { ...claimed, turn: await openEntryTurn(unit, claimed, decided.drains) } };
  }
  await release(unit, session, decided.session === 'wait' ? 'waiting_for_input' : 'idle');
  if (decided.session === 'rest' && !decided.announces) await followUpQuestions(unit, claimed);
  await Promise.all([refreshWork(unit, session.id), decided.task && moveTask(unit, task, decided.task)]);
  return { then: 'released' };
}

function about(session: SessionRow): { workspaceId: string; taskId: string; sessionId: string } {
  return { workspaceId: session.workspace_id, taskId: session.task_id, sessionId: session.id };
}
