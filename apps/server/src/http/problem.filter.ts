import { randomUUID } from 'node:crypto';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Logger } from '@echelon/orchestration';
import { isDatabaseUnavailable } from '@echelon/persistence';
import type { Request, Response } from 'express';
import type { AllowedMethods } from './allowed-methods.js';
import { ProblemError, sendProblem } from './problem.js';

/** Everything that a request throws leaves as one problem; only what nobody expected is logged, with the id that the client sees. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly allowedMethods: AllowedMethods,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<Request>(), http.getResponse<Response>());
  }

  /** The same for what runs before Nest. */
  answer(error: unknown, request: Request, response: Response): void {
    const problem = this.#problemOf(error, request);
    if (response.headersSent) response.destroy();
    else sendProblem(response, problem);
  }

  #problemOf(error: unknown, request: Request): ProblemError {
    if (error instanceof ProblemError) return error;
    const expected = ofHttp(error, this.allowedMethods(request.path));
    if (expected) return expected;
    if (isDatabaseUnavailable(error)) return new ProblemError('SERVICE_UNAVAILABLE');
    const errorId = randomUUID();
    this.logger.error({ errorId, error, method: request.method, path: request.path }, 'request.failed');
    return new ProblemError('INTERNAL', { details: { error_id: errorId } });
  }
}

const UNREADABLE: Partial<Record<number, ProblemError['code']>> = {
  400: 'BODY_MALFORMED',
  413: 'BODY_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

/** What Nest, its router and the body parser throw for a request that they cannot read or route. */
function ofHttp(error: unknown, allow: readonly string[]): ProblemError | null {
  if (!(error instanceof HttpException)) return null;
  const status = error.getStatus();
  if (status === 404) return allow.length > 0 ? new ProblemError('METHOD_NOT_ALLOWED', { allow }) : new ProblemError('ROUTE_NOT_FOUND');
  if (error.cause instanceof URIError)
    return new ProblemError('INVALID_INPUT', { errors: [{ path: 'path', rule: 'must be percent-encoded correctly' }] });
  const code = UNREADABLE[status];
  return code ? new ProblemError(code) : null;
}
