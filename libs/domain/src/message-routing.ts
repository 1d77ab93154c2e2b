/**
 * Messages between tasks (autopilot-contract.md §8): which session receives one, and what its arrival does.
 */
import { refuse, type Refusal } from './refusal.js';
import { sessionMachine, type SessionState } from './session.js';
import type { DeliveryMode } from './queue-entry.js';

export interface TargetSessionFacts {
  readonly id: string;
  readonly state: SessionState;
  readonly isPrimary: boolean;
  /** Position by creation; higher is newer. */
  readonly age: number;
}

export type TargetOutcome = Refusal | { readonly sessionId: string; readonly state: SessionState };

/** An explicit session is never redirected; else the live primary; else the newest live session; else a refusal (§8, Target). */
export function chooseTargetSession(sessions: readonly TargetSessionFacts[], explicitId: string | null): TargetOutcome {
  if (explicitId) {
    const named = sessions.find((session) => session.id === explicitId);
    if (!named) return refuse('SESSION_NOT_OF_TASK');
    return sessionMachine.isTerminal(named.state)
      ? refuse('SESSION_TERMINAL', { state: named.state })
      : { sessionId: named.id, state: named.state };
  }
  const live = sessions.filter((session) => !sessionMachine.isTerminal(session.state));
  const target = live.find((session) => session.isPrimary) ?? live.toSorted((a, b) => b.age - a.age)[0];
  if (target) return { sessionId: target.id, state: target.state };
  return refuse(sessions.length === 0 ? 'NO_SESSION' : 'SESSION_TERMINAL');
}

/** What the sender is to the receiving task. */
export type SenderRelation = 'operator' | 'direct_parent' | 'same_task' | 'other_task';

export interface ArrivalFacts {
  readonly relation: SenderRelation;
  readonly sessionState: SessionState;
  readonly mode: DeliveryMode;
  /** A turn is open: it runs, is parked, or was left by its holder and waits for the next one. */
  readonly turnOpen: boolean;
  readonly questionPending: boolean;
  readonly queuedOrdinary: number;
  /** Ordinary entries at most; 0 is unlimited. */
  readonly cap: number;
}

export interface Arrival {
  /** Ends the wait of a pending parent question first (S1). */
  readonly supersedes: boolean;
  /** Takes effect at the next safe boundary of a turn that runs, at once on any other open turn. */
  readonly interrupts: boolean;
  /** What the sender is told. */
  readonly status: 'started' | 'sent' | 'queued';
}

/** Decides what an ordinary message does on arrival (§8 table, S1, S2, R13). */
export function decideArrival(facts: ArrivalFacts): Refusal | Arrival {
  if (facts.mode === 'interrupt' && facts.relation !== 'direct_parent') return refuse('NOT_DIRECT_PARENT');
  const supersedes = facts.questionPending && (facts.relation === 'operator' || facts.relation === 'direct_parent');
  const interrupts = facts.mode === 'interrupt' && facts.turnOpen;
  if (!supersedes && !interrupts && facts.cap > 0 && facts.queuedOrdinary >= facts.cap) {
    return refuse('QUEUE_FULL', { size: facts.queuedOrdinary, max: facts.cap, retry_after: 'next_turn' });
  }
  return { supersedes, interrupts, status: arrivalStatus(facts, supersedes, interrupts) };
}

function arrivalStatus(facts: ArrivalFacts, supersedes: boolean, interrupts: boolean): Arrival['status'] {
  if (facts.sessionState === 'created') return 'started';
  if (interrupts) return 'sent';
  if (facts.sessionState === 'running' || facts.sessionState === 'parked') return 'queued';
  if (supersedes) return 'sent';
  return facts.questionPending || facts.queuedOrdinary > 0 ? 'queued' : 'sent';
}
