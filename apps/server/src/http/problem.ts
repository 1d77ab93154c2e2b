/** Problems: the one translation of error codes to HTTP (RFC 9457). The table of codes stands in `contracts`. */
import { ERRORS, type ErrorCode, type Problem } from '@echelon/contracts';
import type { Refusal } from '@echelon/domain';
import type { Response } from 'express';
import type { Violation } from './violations.js';

export interface ProblemFacts {
  /** What happened here, where the table's advice is not enough; never with values from the request. */
  readonly detail?: string;
  readonly details?: Refusal['details'];
  readonly errors?: readonly Violation[];
  /** Methods that the route takes. */
  readonly allow?: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** Thrown inside the server to answer a request with a problem. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly code: ErrorCode,
    readonly facts: ProblemFacts = {},
  ) {
    super(code);
  }
}

const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = { SERVICE_UNAVAILABLE: 5, SHUTTING_DOWN: 5, CREATE_RATE_EXCEEDED: 60 };

/** A code with its facts as problem details. */
function toProblem({ code, facts }: ProblemError): Problem {
  const { status, title, advice } = ERRORS[code];
  return {
    type: `urn:echelon:problem:${code.toLowerCase()}`,
    title,
    status,
    code,
    detail: facts.detail ?? advice,
    ...(facts.errors ? { errors: [...facts.errors] } : {}),
    ...(facts.details && Object.keys(facts.details).length > 0 ? { details: { ...facts.details } } : {}),
  };
}

/** Answers with problem+json; 401 names the scheme, 405 the methods, and what passes by itself says when to come back. */
export function sendProblem(response: Response, error: ProblemError): void {
  const problem = toProblem(error);
  const retryAfter = error.facts.retryAfterSeconds ?? RETRY_AFTER_SECONDS[error.code];
  if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter);
  if (error.facts.allow) response.setHeader('Allow', error.facts.allow.join(', '));
  if (problem.status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="echelon"');
  response.status(problem.status).setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  response.end(JSON.stringify(problem));
}
