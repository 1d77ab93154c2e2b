import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { isRefusal } from '@echelon/domain';
import { map, type Observable } from 'rxjs';
import { ProblemError } from './problem.js';

/** Turns a service's refusal into the problem of its code, so that controllers return outcomes as they are. */
export class RefusalInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map(valueOf));
  }
}

function valueOf(outcome: unknown): unknown {
  if (typeof outcome === 'object' && outcome !== null && isRefusal(outcome))
    throw new ProblemError(outcome.code, { details: outcome.details });
  return outcome;
}
