import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Metrics } from '../metrics.js';

/** Counts requests by the route's pattern, never by the path that was asked for. */
export function countRequests(metrics: Metrics): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    response.once('finish', () => {
      const { path } = (request.route ?? {}) as { readonly path?: unknown };
      const route = typeof path === 'string' ? path : 'other';
      metrics.requests.inc({ method: request.method, route, status: response.statusCode });
    });
    next();
  };
}
