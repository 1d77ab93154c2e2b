import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { wordIssue } from '@echelon/agent-loop';
import type { z } from 'zod';
import { canonicalValue } from './canonical-value.js';
import { ProblemError } from './problem.js';
import { toViolations } from './violations.js';

/** Parses whatever a handler declares a schema for, in canonical text; refuses with every violation by path and rule. */
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { schema, type, data }: ArgumentMetadata): unknown {
    if (!schema || type === 'custom') return value;
    const parsed = (schema as z.ZodType).safeParse(canonicalValue(value), { error: wordIssue });
    if (parsed.success) return parsed.data;
    throw new ProblemError('INVALID_INPUT', {
      errors: toViolations(parsed.error.issues, data).map((violation) => ({ ...violation, path: violation.path || type })),
    });
  }
}
