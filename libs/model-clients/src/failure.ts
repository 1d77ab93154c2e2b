/**
 * Says what went wrong with a request, in our closed form.
 *
 * Retryable are 408, 429, 502, 503, 504 and 529, a lost connection and a provider that never began to answer
 * (agent-loop.md section 4); not retryable is whatever the provider itself calls final, such as a used-up quota.
 */
import { APICallError } from '@ai-sdk/provider';
import type { ModelFailure } from '@echelon/agent-loop';

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504, 529]);
const MESSAGE_LIMIT = 2_000;
const NETWORK_ERROR = /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/;

/** A failure that is not the provider's: the caller gave up, time ran out, or the configuration is incomplete. */
export function ownFailure(kind: 'aborted' | 'timeout' | 'configuration', message: string): ModelFailure {
  return { kind, message, status: null, retryAfterMs: null, retryable: kind === 'timeout' };
}

/** Classifies what `doStream` threw or what an error part carries. `now` is the present in milliseconds. */
export function classifyError(error: unknown, now: number): ModelFailure {
  if (APICallError.isInstance(error)) return classifyCall(error, now);
  if (isNetworkError(error)) return { kind: 'connection', message: messageOf(error), status: null, retryAfterMs: null, retryable: true };
  return classifyStreamError(error);
}

function classifyCall(error: APICallError, now: number): ModelFailure {
  const status = error.statusCode ?? null;
  if (status === null || status < 300) {
    const lost = status === null || error.isRetryable || isNetworkError(error);
    return { kind: lost ? 'connection' : 'protocol', message: messageOf(error), status: null, retryAfterMs: null, retryable: lost };
  }
  return {
    kind: 'http',
    message: describeResponse(error, status),
    status,
    retryAfterMs: parseRetryAfter(error.responseHeaders?.['retry-after'], now),
    retryable: RETRYABLE_STATUSES.has(status) && error.isRetryable,
  };
}

/** An error event inside a stream; some carry the status that the whole request would have had. */
function classifyStreamError(error: unknown): ModelFailure {
  const { statusCode, code, isRetryable } = toShape(error) ?? {};
  const status = [statusCode, code].map(Number).find((value) => value >= 400 && value <= 599) ?? null;
  return {
    kind: status === null ? 'protocol' : 'http',
    message: messageOf(error),
    status,
    retryAfterMs: null,
    retryable: status !== null && RETRYABLE_STATUSES.has(status) && isRetryable !== false,
  };
}

/** `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110); `null` if absent or unreadable. */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined || value.trim() === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, Math.round(seconds * 1_000));
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Replaces secrets in a text that leaves this package, and bounds it. */
export function redact(text: string, secrets: readonly string[]): string {
  const clean = secrets.filter((secret) => secret.length >= 4).reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
  return clean.length > MESSAGE_LIMIT ? `${clean.slice(0, MESSAGE_LIMIT)}…` : clean;
}

/** A body that the SDK could not read is the only explanation there is. */
function describeResponse(error: APICallError, status: number): string {
  const body = error.data === undefined ? error.responseBody?.trim() : undefined;
  return [`HTTP ${status}`, error.message, body].filter((text) => text !== undefined && text !== '').join(': ');
}

/** By shape and not by class: an error of the HTTP client may come from another realm. */
function isNetworkError(error: unknown): boolean {
  for (let cause = toShape(error); cause !== null; cause = toShape(cause.cause)) {
    if (typeof cause.code === 'string' && NETWORK_ERROR.test(cause.code)) return true;
    if (cause.name === 'TypeError' && (cause.message === 'terminated' || cause.message === 'fetch failed')) return true;
  }
  return false;
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const shape = toShape(error);
  const cause = toShape(shape?.cause);
  const texts = [shape?.message, cause?.message].filter((text) => typeof text === 'string' && text !== '');
  return texts.length > 0 ? texts.join(': ') : (JSON.stringify(error) ?? String(error));
}

interface ErrorShape {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
}

function toShape(error: unknown): ErrorShape | null {
  return typeof error === 'object' && error !== null ? error : null;
}
