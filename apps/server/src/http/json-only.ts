import type { NextFunction, Request, Response } from 'express';
import { ProblemError } from './problem.js';

/** Refuses a body that is not JSON, rather than reading it as absent. */
export function jsonOnly(request: Request, _response: Response, next: NextFunction): void {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (!hasBody || request.is('application/json')) return next();
  next(new ProblemError('UNSUPPORTED_MEDIA_TYPE'));
}
