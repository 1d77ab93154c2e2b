/**
 * The parent question: who may ask, who may answer, and what ends the wait (autopilot-contract.md §4–6).
 *
 * Q1  A question leaves `pending` once, by a conditional update (K8).
 * Q2  Only the recorded parent that is still the direct parent answers; the task is the authority, not its session (R1, R4).
 * Q3  An idempotent retry is answered before anything else is checked (A2).
 */
import { defineMachine, type EventOf, type StateOf } from './machine.js';
import { refuse, type Refusal } from './refusal.js';
import type { SessionKind } from './session.js';

export const questionMachine = defineMachine({
  pending: { answer: 'answered', supersede: 'superseded', expire: 'stale' },
  answered: {},
  superseded: {},
  stale: {},
});
export type QuestionStatus = StateOf<typeof questionMachine>;
export type QuestionEvent = EventOf<typeof questionMachine>;

/** Why a question became stale, or was superseded. */
export type QuestionEndCause =
  | 'operator_prompt'
  | 'parent_prompt'
  | 'lead'
  | 'session_ended'
  | 'task_ended'
  | 'task_archived'
  | 'task_deleted'
  | 'parent_ended'
  | 'parent_archived'
  | 'parent_deleted'
  | 'parent_changed'
  | 'timeout';

/** Causes after which the child lives on and must be told that nobody can answer (S4, S8, K9). */
export function needsNotice(cause: QuestionEndCause): boolean {
  return (
    cause === 'parent_ended' ||
    cause === 'parent_archived' ||
    cause === 'parent_deleted' ||
    cause === 'parent_changed' ||
    cause === 'timeout'
  );
}

/** How a parent can be reached: its live session, a first session that has yet to start, or not at all. */
export type ParentReach = { readonly kind: 'session'; readonly sessionId: string } | { readonly kind: 'none' };

export interface AskFacts {
  readonly autopilot: boolean;
  readonly sessionKind: SessionKind;
  readonly parentTaskId: string | null;
  readonly sameKeyQuestionId: string | null;
  readonly pendingQuestionId: string | null;
  /** The parent exists, is neither archived nor terminal, and this is how it is reached. */
  readonly parent: ParentReach;
}

export type AskOutcome =
  | Refusal
  | { readonly ask: 'existing'; readonly questionId: string }
  | { readonly ask: 'new'; readonly parentTaskId: string; readonly parentSessionId: string };

/** Decides an ask (A1–A5, A12). */
export function decideAsk(facts: AskFacts): AskOutcome {
  if (facts.sameKeyQuestionId) return { ask: 'existing', questionId: facts.sameKeyQuestionId };
  if (facts.sessionKind !== 'task') return refuse('WRONG_SESSION_KIND', { kind: facts.sessionKind });
  if (!facts.autopilot) return refuse('NOT_AUTOPILOT');
  if (!facts.parentTaskId) return refuse('NO_PARENT');
  if (facts.pendingQuestionId) return { ask: 'existing', questionId: facts.pendingQuestionId };
  if (facts.parent.kind === 'none') return refuse('PARENT_UNAVAILABLE');
  return { ask: 'new', parentTaskId: facts.parentTaskId, parentSessionId: facts.parent.sessionId };
}

export interface AnswerFacts {
  readonly question: {
    readonly status: QuestionStatus;
    readonly taskId: string;
    readonly sessionId: string;
    readonly parentTaskId: string;
    readonly answerEntryId: string | null;
  } | null;
  /** Parent of the question's task now. */
  readonly currentParentId: string | null;
  /** Task of the caller; `null` for an operator. */
  readonly callerTaskId: string | null;
  readonly targetTaskId: string;
  readonly targetSessionId: string | null;
}

export type AnswerOutcome =
  | Refusal
  | { readonly answer: 'already_answered'; readonly sessionId: string; readonly entryId: string | null }
  | { readonly answer: 'accept'; readonly sessionId: string };

/** Decides an answer (R1–R8). The refusals say nothing of the question's content. */
export function decideAnswer(facts: AnswerFacts): AnswerOutcome {
  const { question } = facts;
  if (!question) return refuse('QUESTION_UNKNOWN');
  if (facts.callerTaskId !== question.parentTaskId) return refuse('QUESTION_NOT_YOURS');
  if (facts.targetTaskId !== question.taskId) return refuse('QUESTION_TARGET_MISMATCH', { field: 'task_id' });
  if (facts.targetSessionId && facts.targetSessionId !== question.sessionId)
    return refuse('QUESTION_TARGET_MISMATCH', { field: 'session_id' });
  if (question.status === 'answered') return { answer: 'already_answered', sessionId: question.sessionId, entryId: question.answerEntryId };
  if (question.status !== 'pending') return refuse('QUESTION_NOT_PENDING', { status: question.status });
  if (facts.currentParentId !== question.parentTaskId) return refuse('QUESTION_NOT_YOURS');
  return { answer: 'accept', sessionId: question.sessionId };
}
