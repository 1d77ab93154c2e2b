/**
 * Turns of attached sessions: agents that somebody else runs and that only call our MCP endpoint (autopilot-contract.md §1).
 *
 * A1  The lease names the token that called last and lasts ten idle minutes; no process of ours holds anything.
 * A2  A delivered entry opens a turn, and so does a call without one. The turn's id is the epoch: a delivery is handed out again
 *     until the agent names its turn, so that a lost response, or a server that died after its commit, loses and doubles nothing.
 * A3  The next wait, a question to the operator, a completion signal or the idle time closes the turn, all by the one end of turns.
 * A4  A delivery that no later call confirmed within the idle time closes `interrupted` and is not handed out again by itself: one
 *     notice entry names it and says how to read it.
 */
import { carriesAutopilot, mayWork, nextDelivery, refuse, type Refusal, sessionMachine, taskMachine } from '@echelon/domain';
import {
  findEntry,
  findOpenTurn,
  findSession,
  findTask,
  insertEntry,
  type LeaseHolder,
  loadAdmission,
  type QueueEntryRow,
  type SessionRow,
  setCause,
  takeLease,
  type TaskRow,
  touchAttached,
  type Tx,
  type TurnRow,
} from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { lockFamilies, moveTask } from './ending.js';
import { lostDeliveryText } from './message-text.js';
import { enqueue } from './session-queue.js';
import { endTurn } from './settle.js';
import { openEntryTurn } from './turn-opening.js';
import type { Unit } from './unit-of-work.js';

/** Ten idle minutes close a turn. */
export const IDLE_MS = 600_000;

const YIELD = { yieldToOthers: true };
/** Why an entry of such a session is there, beside messages. */
const FIRST_CALL = 'first_call';
const UNCONFIRMED = 'unconfirmed_delivery';
const FIRST_CALL_TEXT = 'The agent of this session began to work by itself.';

export interface AttachedAgent {
  readonly taskId: string;
  readonly sessionId: string;
  readonly owner: string;
}

export interface Delivery {
  readonly turn: TurnRow;
  readonly entry: QueueEntryRow;
  /** It was handed out before, and the agent did not name its turn since. */
  readonly again: boolean;
}

interface Held {
  readonly task: TaskRow;
  readonly session: SessionRow;
  readonly turn: TurnRow | null;
}

/** Gives the agent its next entry: closes the turn that it names, delivers again what it does not name; `null` when nothing waits. */
export async function takeDelivery(unit: Unit, agent: AttachedAgent, finishedTurnId: string | null): Promise<Delivery | null | Refusal> {
  const held = await lockAttached(unit, agent);
  if ('refused' in held) return held;
  const { turn } = held;
  if (turn) {
    const entry = await openingOf(unit, turn);
    if (turn.id !== finishedTurnId && isHandedOut(turn, entry)) {
      await takeLease(unit, agent.sessionId, holderOf(agent));
      return { turn, entry, again: true };
    }
    await closeAttached(unit, agent, { ...held, turn });
  }
  const next = nextDelivery(await loadAdmission(unit, agent.sessionId));
  return next.do === 'open' ? open(unit, agent, next.entryId) : null;
}

/** What the session's open turn was opened with, if it was handed out: the agent may read it again as long as that turn is open. */
export async function findDelivery(tx: Tx, sessionId: string): Promise<Delivery | null> {
  const turn = await findOpenTurn(tx, sessionId);
  const entry = turn && (await openingOf(tx, turn));
  return entry && isHandedOut(turn, entry) ? { turn, entry, again: true } : null;
}

/** The turn that a call belongs to; `null` where there is none. */
export interface EnteredTurn {
  readonly turnId: string | null;
}

/** A call that needs a turn: goes on with the open one, or opens one. Refuses with TURN_STOPPING when that turn was stopped. */
export async function enterTurn(unit: Unit, agent: AttachedAgent): Promise<EnteredTurn | Refusal> {
  const held = await lockAttached(unit, agent);
  if ('refused' in held) return held;
  const { turn } = held;
  if (turn?.stop_requested_at) {
    await closeAttached(unit, agent, { ...held, turn });
    return refuse('TURN_STOPPING');
  }
  if (turn) await takeLease(unit, agent.sessionId, holderOf(agent));
  else if (mayWork(await loadAdmission(unit, agent.sessionId))) await openByCall(unit, agent);
  return { turnId: await touchAttached(unit, { ...agent, idleMs: IDLE_MS }) };
}

/** Closes the turn if it is still the open one: another that a wait has opened meanwhile goes on. */
export async function leaveTurn(unit: Unit, agent: AttachedAgent, turnId: string): Promise<void> {
  const held = await lockAttached(unit, agent);
  if ('refused' in held) return;
  if (held.turn?.id === turnId) await closeAttached(unit, agent, { ...held, turn: held.turn });
}

/** Ends a turn whose agent has called nothing for ten minutes; a delivery that no later call confirmed may never have arrived. */
export async function endIdleTurn(unit: Unit, held: ClaimedTurn): Promise<void> {
  const { turn } = held;
  const outcome = turn.stop_requested_at ? 'cancelled' : turn.last_barrier_at ? 'completed' : 'interrupted';
  if (outcome === 'interrupted') await tellLost(unit, turn);
  await endTurn(unit, held, { outcome, detail: 'idle for ten minutes' }, YIELD);
}

/** One notice of what may never have arrived; one that is lost itself is written again as it was (A4). */
async function tellLost(unit: Unit, turn: TurnRow): Promise<void> {
  const lost = await openingOf(unit, turn);
  const text = lost.cause === UNCONFIRMED ? lost.text : lostDeliveryText(lost);
  const { entry } = await enqueue(unit, { sessionId: turn.session_id, rank: 0, kind: 'notice', text, senderKind: 'system' });
  setCause(unit, entry.id, UNCONFIRMED);
}

function isHandedOut(turn: TurnRow, entry: QueueEntryRow): boolean {
  return entry.cause !== FIRST_CALL && !turn.stop_requested_at;
}

async function openingOf(tx: Tx, turn: TurnRow): Promise<QueueEntryRow> {
  const entry = await findEntry(tx, turn.opening_entry_id);
  if (!entry) throw new Error(`turn ${turn.id} has lost its entry`);
  return entry;
}

async function lockAttached(unit: Unit, { taskId, sessionId }: AttachedAgent): Promise<Held | Refusal> {
  const { tasks, sessions } = await lockFamilies(unit, [taskId]);
  const [task, session] = [tasks.get(taskId), sessions.find(({ id }) => id === sessionId)];
  if (!task || !session || sessionMachine.isTerminal(session.state)) return refuse('SESSION_TERMINAL', { state: session?.state ?? null });
  if (task.autopilot && !carriesAutopilot(session.runtime)) return refuse('PROFILE_INCOMPATIBLE', { runtime: session.runtime });
  return { task, session, turn: await findOpenTurn(unit, sessionId) };
}

async function closeAttached(unit: Unit, agent: AttachedAgent, { task, session, turn }: Held & { readonly turn: TurnRow }): Promise<void> {
  const lease = { sessionId: agent.sessionId, epoch: session.lease_epoch };
  const outcome = turn.stop_requested_at ? 'cancelled' : 'completed';
  await endTurn(unit, { lease, task, session, turn }, { outcome, detail: null }, YIELD);
}

async function openByCall(unit: Unit, agent: AttachedAgent): Promise<void> {
  const entry = { sessionId: agent.sessionId, rank: 0, kind: 'notice', text: FIRST_CALL_TEXT, senderKind: 'system' } as const;
  const { id } = await insertEntry(unit, entry);
  setCause(unit, id, FIRST_CALL);
  await open(unit, agent, id);
}

async function open(unit: Unit, agent: AttachedAgent, entryId: string): Promise<Delivery> {
  const lease = await takeLease(unit, agent.sessionId, holderOf(agent));
  const [session, task] = await Promise.all([findSession(unit, lease.sessionId), findTask(unit, agent.taskId)]);
  if (!session || !task) throw new Error(`session ${lease.sessionId} vanished under its lock`);
  const turn = await openEntryTurn(unit, { task, session }, entryId);
  if (task.state !== 'in_progress' && !taskMachine.isTerminal(task.state)) await moveTask(unit, task, 'start');
  const entry = await findEntry(unit, entryId);
  if (!entry) throw new Error(`entry ${entryId} vanished under its session's lock`);
  return { turn, entry, again: false };
}

function holderOf({ owner }: AttachedAgent): LeaseHolder {
  return { owner, presence: null, leaseMs: IDLE_MS };
}
