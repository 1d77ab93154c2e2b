/**
 * The queue of a session, and whether the session has work.
 *
 * The caller holds the session's lock: either the holder of the lease sees a new entry at its settlement, or nobody holds
 * the session and the entry is announced with it. There is no third case (K1, K5).
 */
import { countsTowardsCap, type NextWork, nextWork } from '@echelon/domain';
import {
  findEntry,
  insertEntry,
  loadAdmission,
  type NewEntry,
  type QueueEntryRow,
  releaseLease,
  type SessionRow,
  setRunnable,
} from '@echelon/persistence';
import { ORDINARY, URGENT } from './priority.js';
import type { Unit } from './unit-of-work.js';

export interface Queued {
  readonly entry: QueueEntryRow;
  /** What the session does next, now that the entry is there. */
  readonly next: NextWork;
}

/** Appends an entry, and announces it if that gives an unheld session work. */
export async function enqueue(unit: Unit, entry: NewEntry): Promise<Queued> {
  const [row, next] = await Promise.all([insertEntry(unit, entry), refreshWork(unit, entry.sessionId, priorityOf(entry))]);
  await tellChange(unit, row);
  return { entry: row, next };
}

/**
 * What follows every other change of entries that wait: each is told of, and their sessions' work is stored anew. Only delivery has
 * a way of its own: it opens a turn.
 */
export async function followChange(unit: Unit, changed: readonly QueueEntryRow[]): Promise<void> {
  for (const entry of changed) await tellChange(unit, entry);
  for (const sessionId of new Set(changed.map((entry) => entry.session_id))) await refreshWork(unit, sessionId);
}

/** Stores what the session would do next, and announces it if nobody holds the session. Call after every change of a fact of admission. */
export async function refreshWork(unit: Unit, sessionId: string, priority: number = ORDINARY): Promise<NextWork> {
  const facts = await loadAdmission(unit, sessionId);
  const next = nextWork(facts);
  const runnable = next.do !== 'nothing';
  setRunnable(unit, sessionId, runnable);
  if (runnable && !facts.held) await unit.wake(sessionId, priority, facts.rootId);
  return next;
}

/** Gives the lease back, and with it the turn of the session's tree. Call `refreshWork` after it. */
export async function release(unit: Unit, session: SessionRow, state: SessionRow['state']): Promise<void> {
  await releaseLease(unit, session.id, state);
  unit.passTurn(session.task_id, session.id);
}

/** Whether the entry opens the session's next turn now: nobody runs the session, and nothing goes before the entry. */
export function opensNext(session: Pick<SessionRow, 'state'>, { entry, next }: Queued): boolean {
  return session.state !== 'running' && next.do === 'open' && next.entryId === entry.id;
}

/** The event of an entry that came, changed, or left the queue. */
export function tellChange(unit: Unit, { id, workspace_id, session_id, kind, state }: QueueEntryRow): Promise<void> {
  const data = { entry_id: id, kind, state };
  return unit.tell({ workspaceId: workspace_id, type: 'queue.changed', taskId: null, sessionId: session_id, data });
}

/** How urgent it is that the session does what it does next: going on with a turn is, an entry as when it was queued. */
export async function priorityOfNext(unit: Unit, next: Exclude<NextWork, { readonly do: 'nothing' }>): Promise<number> {
  const entry = next.do === 'open' ? await findEntry(unit, next.entryId) : null;
  return entry ? priorityOf({ kind: entry.kind, senderKind: entry.sender_kind }) : URGENT;
}

/** Answers, questions and what an operator writes go before the rest (K24). */
function priorityOf(entry: Pick<NewEntry, 'kind' | 'senderKind'>): number {
  return entry.senderKind === 'operator' || !countsTowardsCap(entry.kind) ? URGENT : ORDINARY;
}
