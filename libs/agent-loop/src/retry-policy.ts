import type { ModelFailure } from './model-port.js';

/** How requests are repeated before the first output (agent-loop.md §4). */
export interface RetryPolicy {
  /** Requests to one model at most. */
  readonly tries: number;
  /** Milliseconds before the second request; doubles. */
  readonly baseMs: number;
  readonly capMs: number;
  /** A provider that asks for a longer wait parks the loop instead (K13); `Infinity` waits in place. */
  readonly parkAfterMs: number;
  /** Milliseconds without an event, after the first output, that fail a request. */
  readonly idleMs: number;
}

export const RETRY_POLICY: RetryPolicy = { tries: 3, baseMs: 1_000, capMs: 30_000, parkAfterMs: 30_000, idleMs: 120_000 };

const RETRYABLE_STATUS: ReadonlySet<number> = new Set([408, 429, 502, 503, 504, 529]);

/** Whether the same request may succeed later. A status decides over the adapter's opinion; 400, 401 and 500 are final. */
export function isRetryable(failure: ModelFailure): boolean {
  switch (failure.kind) {
    case 'connection':
    case 'timeout':
      return true;
    case 'http':
      return failure.status === null ? failure.retryable : RETRYABLE_STATUS.has(failure.status);
    case 'protocol':
      return failure.retryable;
    case 'aborted':
    case 'configuration':
      return false;
  }
}

/** Milliseconds before try number `tries + 1`: doubling, the upper half of it jittered, never less than `Retry-After`. */
export function retryDelay(policy: RetryPolicy, tries: number, retryAfterMs: number | null, random: number): number {
  const full = Math.min(policy.capMs, policy.baseMs * 2 ** (tries - 1));
  return Math.max(full / 2 + (full / 2) * random, retryAfterMs ?? 0);
}
