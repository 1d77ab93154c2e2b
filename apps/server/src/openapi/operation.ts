import { applyDecorators, HttpCode } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import type { z } from 'zod';

export interface OperationOptions {
  /** One line, an imperative. */
  readonly summary: string;
  readonly description?: string;
  readonly returns: z.ZodType;
  /** HTTP status of success; 200 where absent. */
  readonly status?: number;
}

/** What a route does and what it answers with: for Nest and for the OpenAPI document. */
export function Operation({ summary, description, returns, status = 200 }: OperationOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(status),
    ApiOperation({ summary, ...(description === undefined ? {} : { description }) }),
    ApiResponse({ status, description: 'Done.', standardSchema: returns }),
  );
}
