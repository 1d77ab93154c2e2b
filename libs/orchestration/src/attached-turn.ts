/**
 * Turns of attached sessions: agents that somebody else runs and that only call our MCP endpoint (autopilot-contract.md §1).
 *
 * A1  The lease names the token that called last and lasts ten idle minutes; no process of ours holds anything.
 * A2  A delivered entry opens a turn, and so does a call without one. The turn's id is the epoch: a delivery is handed out again
 *     until the agent names its turn, so that a lost response, or a server that died after its commit, loses and doubles nothing.
 * A3  The next wait, a question to the operator, a completion signal or the idle time closes the turn, all by the one end of turns.
 */
import { mayWork, nextDelivery, refuse, type Refusal, sessionMachine, taskMachine } from '@echelon/domain';
import {
  findEntry,
  findOpenTurn,
  findSession,
  findTask,
  insertEntry,
  type LeaseHolder,
  loadAdmission,
  markFirstCall,
  type QueueEntryRow,
  type SessionRow,
  takeLease,
  type TaskRow,
  touchAttached,
  type TurnRow,
} from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { lockFamilies, moveTask } from './ending.js';
import { endTurn } from './settle.js';
import { openEntryTurn } from './turn-opening.js';
import type { Unit } from './unit-of-work.js';

/** Ten idle minutes close a turn. */
export const IDLE_MS = 600_000;

const YIELD = { yieldToOthers: true };
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
    const entry = await findEntry(unit, turn.opening_entry_id);
    if (!entry) throw new Error(`turn ${turn.id} has lost its entry`);
    const delivered = entry.cause !== 'first_call' && turn.id !== finishedTurnId && !turn.stop_requested_at;
    if (delivered) {
      await takeLease(unit, agent.sessionId, holderOf(agent));
      return { turn, entry, again: true };
    }
    await closeAttached(unit, agent, { ...held, turn });
  }
  const next = nextDelivery(await loadAdmission(unit, agent.sessionId));
  return next.do === 'open' ? open(unit, agent, next.entryId) : null;
}

/** A call that needs a turn: goes on with the open one, or opens one. Refuses with TURN_STOPPING when that turn was stopped. */
export async function enterTurn(unit: Unit, agent: AttachedAgent): Promise<Refusal | null> {
  const held = await lockAttached(unit, agent);
  if ('refused' in held) return held;
  const { turn } = held;
  if (turn?.stop_requested_at) {
    await closeAttached(unit, agent, { ...held, turn });
    return refuse('TURN_STOPPING');
  }
  if (turn) await takeLease(unit, agent.sessionId, holderOf(agent));
  else if (mayWork(await loadAdmission(unit, agent.sessionId))) await openByCall(unit, agent);
  await touchAttached(unit, { ...agent, idleMs: IDLE_MS });
  return null;
}

/** Closes the open turn, if there is one. */
export async function leaveTurn(unit: Unit, agent: AttachedAgent): Promise<Refusal | null> {
  const held = await lockAttached(unit, agent);
  if ('refused' in held) return held;
  if (held.turn) await closeAttached(unit, agent, { ...held, turn: held.turn });
  return null;
}

/** Ends a turn whose agent has called nothing for ten minutes; a delivery that no later call confirmed may never have arrived. */
export async function endIdleTurn(unit: Unit, held: ClaimedTurn): Promise<void> {
  const { turn } = held;
  const outcome = turn.stop_requested_at ? 'cancelled' : turn.last_barrier_at ? 'completed' : 'interrupted';
  await endTurn(unit, held, { outcome, detail: 'idle for ten minutes' }, YIELD);
}

async function lockAttached(unit: Unit, { taskId, sessionId }: AttachedAgent): Promise<Held | Refusal> {
  const { tasks, sessions } = await lockFamilies(unit, [taskId]);
  const [task, session] = [tasks.get(taskId), sessions.find(({ id }) => id === sessionId)];
  if (!task || !session || sessionMachine.isTerminal(session.state)) return refuse('SESSION_TERMINAL', { state: session?.state ?? null });
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
  markFirstCall(unit, id);
  await open(unit, agent, id);
}

async function open(unit: Unit, agent: AttachedAgent, entryId: string): Promise<Delivery> {
  const lease = await takeLease(unit, agent.sessionId, holderOf(agent));
  const [session, task] = await Promise.all([findSession(unit, lease.sessionId), findTask(unit, agent.taskId)]);
  if (!session || !task) throw new Error(`session ${lease.sessionId} vanished under its lock`);
  const turn = await openEntryTurn(unit, session, entryId);
  if (task.state !== 'in_progress' && !taskMachine.isTerminal(task.state)) await moveTask(unit, task, 'start');
  const entry = await findEntry(unit, entryId);
  if (!entry) throw new Error(`entry ${entryId} vanished under its session's lock`);
  return { turn, entry, again: false };
}

function holderOf({ owner }: AttachedAgent): LeaseHolder {
  return { owner, presence: null, leaseMs: IDLE_MS };
}
