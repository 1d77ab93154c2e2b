import type { Turn } from '@echelon/contracts';
import { canonicalText, isRefusal, type Limits, refuse, type Refusal } from '@echelon/domain';
import {
  type Database,
  findOpenTurn,
  findSession,
  findTurn,
  insertAudit,
  lockSessions,
  lockSessionSets,
  lockTasks,
  type SessionRow,
  setAutoRun,
  storeCompletionSignal,
  type TaskRow,
  type TurnRow,
} from '@echelon/persistence';
import { type Actor, type AgentActor, actorName } from './actor.js';
import { checkBytes } from './limit-checks.js';
import { type Outcome, refusalOf } from './outcome.js';
import { followUpQuestions } from './question-follow-up.js';
import { inScope, isId } from './scope.js';
import { refreshWork } from './session-queue.js';
import { toTurn } from './session-view.js';
import { stopTurn } from './stop-turn.js';
import { refuseAfterQuestion, refuseTurn } from './turn-authority.js';
import type { Transactions, Unit } from './unit-of-work.js';

export interface CompletionSignal {
  readonly summary: string;
  readonly handoff?: string | undefined;
  readonly blockers?: readonly string[] | undefined;
}

export type SignalResult = { readonly accepted: true } | { readonly accepted: false; readonly reason: 'already_signaled' };

/** Turns: reading, stopping, and the signal that the work of a step is complete. */
export class TurnService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  async get(actor: Actor, id: string): Promise<Outcome<Turn>> {
    const turn = inScope(actor, isId(id) ? await findTurn(this.database, id) : null);
    return isRefusal(turn) ? turn : toTurn(turn);
  }

  /** Refuses an agent once its turn asked its parent: for calls that are to be refused before anything looks at them (A16, A18). */
  refuseAfterQuestion(actor: AgentActor): Promise<Refusal | null> {
    return refuseAfterQuestion(this.database, actor);
  }

  /**
   * Stops a turn and pauses its session's queue (K18, T4, T5); its question to the parent stays pending (S3). A running turn ends at
   * its next safe boundary, any other at once. A turn that is over, or that is being stopped, is returned as it is.
   * Only operators and the direct parent may (NOT_DIRECT_PARENT).
   */
  stop(actor: Actor, turnId: string): Promise<Outcome<Turn>> {
    return refusalOf(
      this.transactions.run(async (unit) => {
        const held = await lockTurn(unit, actor, turnId);
        if (isRefusal(held)) return held;
        if (actor.kind === 'agent' && actor.taskId !== held.task.parent_id) return refuse('NOT_DIRECT_PARENT');
        if (held.turn.status === 'finished' || held.turn.stop_requested_at) return toTurn(held.turn);
        await setAutoRun(unit, held.session.id, false);
        const rests = await stopTurn(unit, held, 'stopped');
        if (rests) await followUpQuestions(unit, held);
        await refreshWork(unit, held.session.id);
        await tellStop(unit, actor, held);
        return toTurn((await findTurn(unit, turnId)) ?? held.turn);
      }),
    );
  }

  /**
   * Signals that the work is complete; settlement reads it. The first signal of a turn counts; a retry of its own call is accepted
   * again. Refuses with NO_SIGNAL_EXPECTED without an open turn, TURN_ENDED_BY_QUESTION after an ask (A16, A17).
   */
  async signalCompletion(actor: AgentActor, signal: CompletionSignal): Promise<Outcome<SignalResult>> {
    const stored = canonicalSignal(signal);
    return refusalOf(
      this.transactions.run(async (unit) => {
        const [session] = await lockSessions(unit, [actor.sessionId]);
        if (session?.task_id !== actor.taskId) return refuse('NOT_FOUND');
        if (session.kind !== 'task') return refuse('WRONG_SESSION_KIND', { kind: session.kind });
        const turn = await findOpenTurn(unit, session.id);
        if (!turn) return refuse('NO_SIGNAL_EXPECTED');
        const tooLong = checkBytes(this.limits, 'prompt_bytes', 'summary', JSON.stringify(stored));
        return refuseTurn(turn, actor) ?? tooLong ?? recordSignal(unit, turn, { ...stored, call_id: actor.callId });
      }),
    );
  }
}

interface HeldTurn {
  readonly task: TaskRow;
  readonly session: SessionRow;
  readonly turn: TurnRow;
}

async function lockTurn(unit: Unit, actor: Actor, turnId: string): Promise<Outcome<HeldTurn>> {
  const found = inScope(actor, isId(turnId) ? await findTurn(unit, turnId) : null);
  if (isRefusal(found)) return found;
  const located = await findSession(unit, found.session_id);
  const [task] = await lockTasks(unit, located ? [located.task_id] : []);
  const sessions = await lockSessionSets(unit, { liveOf: [], ids: [found.session_id], waitingFor: task ? [task.id] : [] });
  const session = sessions.find(({ id }) => id === found.session_id);
  const turn = await findTurn(unit, turnId);
  return task && session && turn ? { task, session, turn } : refuse('NOT_FOUND');
}

async function tellStop(unit: Unit, actor: Actor, { session, turn }: HeldTurn): Promise<void> {
  await insertAudit(unit, { workspaceId: session.workspace_id, actor: actorName(actor), action: 'turn.stop', subject: turn.id });
  await unit.tell({
    workspaceId: session.workspace_id,
    type: 'session.updated',
    taskId: session.task_id,
    sessionId: session.id,
    data: { auto_run: false, stopping_turn_id: turn.id },
  });
}

function canonicalSignal({ summary, handoff, blockers }: CompletionSignal): object {
  return {
    summary: canonicalText(summary),
    ...(handoff === undefined ? {} : { handoff: canonicalText(handoff) }),
    ...(blockers === undefined ? {} : { blockers: blockers.map(canonicalText) }),
  };
}

async function recordSignal(unit: Unit, turn: TurnRow, signal: object & { readonly call_id: string | null }): Promise<SignalResult> {
  if (await storeCompletionSignal(unit, turn.id, signal)) return { accepted: true };
  const isRetry = signal.call_id !== null && turn.completion_signal?.call_id === signal.call_id;
  return isRetry ? { accepted: true } : { accepted: false, reason: 'already_signaled' };
}
