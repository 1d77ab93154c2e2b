import { randomUUID } from 'node:crypto';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Logger } from '@echelon/orchestration';
import { isDatabaseUnavailable } from '@echelon/persistence';
import type { Request, Response } from 'express';
import { ProblemError, sendProblem } from './problem.js';
import type { Violation } from './violations.js';

/** Everything that a request throws leaves as one problem; only what nobody expected is logged, with the id that the client sees. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

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
    const expected = ofHttp(error);
    if (expected) return expected;
    if (isDatabaseUnavailable(error)) return new ProblemError('SERVICE_UNAVAILABLE');
    const errorId = randomUUID();
    this.logger.error({ errorId, error, method: request.method, path: request.path }, 'request.failed');
    return new ProblemError('INTERNAL', { details: { error_id: errorId } });
  }
}

/** What Nest, its router and the body parser throw for a request that they cannot read or route. */
function ofHttp(error: unknown): ProblemError | null {
  if (!(error instanceof HttpException)) return null;
  const status = error.getStatus();
  if (status === 404) return new ProblemError('NOT_FOUND', { detail: 'There is no such route: see /api/v1/reference.' });
  if (status === 413) return new ProblemError('LIMIT_EXCEEDED', { status, detail: 'The body is too large.' });
  if (status === 415) return new ProblemError('INVALID_INPUT', { status, detail: 'The body’s encoding is not supported.' });
  if (status === 400) return new ProblemError('INVALID_INPUT', { errors: [unreadable(error)] });
  return null;
}

function unreadable(error: HttpException): Violation {
  if (error.cause instanceof URIError) return { path: 'path', rule: 'Must be percent-encoded correctly' };
  return { path: 'body', rule: 'Must be well-formed JSON' };
}
