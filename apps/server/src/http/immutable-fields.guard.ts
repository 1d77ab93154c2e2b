import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { ProblemError } from './problem.js';

/** Refuses a change that names a field which is fixed at creation, before anything of the call is applied (F5). */
export class ImmutableFieldsGuard implements CanActivate {
  constructor(private readonly fields: readonly string[]) {}

  canActivate(context: ExecutionContext): boolean {
    const body: unknown = context.switchToHttp().getRequest<Request>().body;
    const field = typeof body === 'object' && body !== null ? this.fields.find((name) => Object.hasOwn(body, name)) : undefined;
    if (field === undefined) return true;
    throw new ProblemError('FIELD_IMMUTABLE', { details: { field }, errors: [{ path: field, rule: 'Fixed at creation' }] });
  }
}
