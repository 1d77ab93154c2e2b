import type { RetryCause } from './loop-events.js';
import type { Attempt } from './model-attempt.js';
import type { ModelFailure } from './model-port.js';
import { isRetryable, retryDelay, type RetryPolicy } from './retry-policy.js';
import type { LoopStop } from './stop-reason.js';

/** What a round has tried so far. */
export interface RoundState {
  readonly target: number;
  /** Number of the request within the round, from 1. */
  readonly attempt: number;
  /** Requests to this model that failed before any output. */
  readonly failures: number;
  /** Streams that dropped after output; one is forgiven per round. */
  readonly drops: number;
  readonly emptyRetries: number;
  readonly emitted: boolean;
}

export type AttemptStep =
  | { readonly do: 'respond' }
  | {
      readonly do: 'again';
      readonly cause: RetryCause | 'fallback';
      readonly delayMs: number;
      readonly failure: ModelFailure | null;
      readonly state: RoundState;
    }
  | { readonly do: 'stop'; readonly stop: LoopStop; readonly keepsPartial: boolean };

export interface DecisionFacts {
  /** How many models may be asked, the first included. */
  readonly targets: number;
  readonly retry: RetryPolicy;
  readonly random: () => number;
}

export function newRoundState(retryEmpty: boolean): RoundState {
  return { target: 0, attempt: 1, failures: 0, drops: 0, emptyRetries: retryEmpty ? 1 : 0, emitted: false };
}

/** What follows from how one request ended. */
export function decideAttempt({ end, collected }: Attempt, before: RoundState, facts: DecisionFacts): AttemptStep {
  const state: RoundState = { ...before, attempt: before.attempt + 1, emitted: before.emitted || collected.emitted };
  switch (end.end) {
    case 'cut':
      return decideCut(end.by);
    case 'finished': {
      const empty = !collected.emitted && collected.finish?.reason === 'stop';
      if (!empty || state.emptyRetries === 0) return { do: 'respond' };
      return { ...again(state, facts, 'empty_response', null), state: { ...state, emptyRetries: 0 } };
    }
    case 'closed':
      return collected.emitted ? decideDrop(state, facts, null) : decideFailure(state, facts, null);
    case 'failed':
      return collected.emitted ? decideDrop(state, facts, end.failure) : decideFailure(state, facts, end.failure);
  }
}

function decideCut(by: 'loop' | 'handOver' | 'merged'): AttemptStep {
  if (by === 'merged') return { do: 'respond' };
  if (by === 'handOver') return { do: 'stop', stop: { reason: 'handed_over' }, keepsPartial: false };
  return { do: 'stop', stop: { reason: 'cancelled', by: 'signal' }, keepsPartial: true };
}

function decideDrop(state: RoundState, facts: DecisionFacts, failure: ModelFailure | null): AttemptStep {
  if (state.drops === 0) return { ...again(state, facts, 'stream_interrupted', failure), state: { ...state, drops: 1 } };
  const message = failure?.message ?? 'the stream ended without a finish reason';
  return { do: 'stop', stop: { reason: 'error', kind: 'stream_interrupted', message, ...(failure && { failure }) }, keepsPartial: true };
}

/** A request that failed before any output; `null`: its stream ended with nothing in it, which is a lost connection. */
function decideFailure(state: RoundState, facts: DecisionFacts, failure: ModelFailure | null): AttemptStep {
  if (failure !== null && !isRetryable(failure)) return failed(failure);
  const failures = state.failures + 1;
  const wait = failure?.retryAfterMs ?? 0;
  const tooLong = wait > facts.retry.parkAfterMs;
  if (failures < facts.retry.tries && !tooLong) {
    return { ...again({ ...state, failures }, facts, 'request_failed', failure), state: { ...state, failures } };
  }
  if (!state.emitted && state.target + 1 < facts.targets) {
    return { do: 'again', cause: 'fallback', delayMs: 0, failure, state: { ...state, target: state.target + 1, failures: 0 } };
  }
  if (tooLong) return { do: 'stop', stop: { reason: 'parked', for: [{ kind: 'retry', milliseconds: wait }] }, keepsPartial: false };
  return failure === null ? dropped() : failed(failure);
}

function again(state: RoundState, facts: DecisionFacts, cause: RetryCause, failure: ModelFailure | null) {
  const tries = Math.max(1, state.failures);
  const delayMs = retryDelay(facts.retry, tries, failure?.retryAfterMs ?? null, facts.random());
  return { do: 'again', cause, delayMs, failure } as const;
}

function failed(failure: ModelFailure): AttemptStep {
  const kind = failure.kind === 'configuration' ? 'configuration' : 'model_request';
  return { do: 'stop', stop: { reason: 'error', kind, message: failure.message, failure }, keepsPartial: false };
}

function dropped(): AttemptStep {
  const message = 'the stream ended without a finish reason';
  return { do: 'stop', stop: { reason: 'error', kind: 'stream_interrupted', message }, keepsPartial: false };
}
