import { LIMITS } from '@echelon/domain';
import { createParamDecorator, type ExecutionContext, applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request } from 'express';
import { ProblemError } from './problem.js';

const HEADER = 'Idempotency-Key';
const MAX_LENGTH = LIMITS.key_characters.default;

/** The request's idempotency key, or `null`; 1 to 512 characters (K16). */
export const IdempotencyKey = createParamDecorator((_data: unknown, context: ExecutionContext): string | null => {
  const key = context.switchToHttp().getRequest<Request>().get(HEADER)?.trim();
  if (key === undefined) return null;
  if (key.length > 0 && key.length <= MAX_LENGTH) return key;
  throw new ProblemError('INVALID_INPUT', { errors: [{ path: HEADER, rule: `1 to ${MAX_LENGTH} characters` }] });
});

/** Documents the header on a route. */
export const TakesIdempotencyKey = () =>
  applyDecorators(
    ApiHeader({
      name: HEADER,
      required: false,
      description: 'The same key and body return the first result again; the same key with another body is refused.',
      schema: { type: 'string', minLength: 1, maxLength: MAX_LENGTH },
    }),
  );
