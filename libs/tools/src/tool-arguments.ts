/** Arguments that several tools share. */
import { Cursor, Id } from '@echelon/contracts';
import { z } from 'zod';

/** An id, checked here but described to models without its pattern: a schema is read in every request. */
export function exactId(description: string) {
  return z
    .string()
    .refine((text) => Id.safeParse(text).success, 'must be a full id')
    .describe(description);
}

/** Arguments of a tool that lists page by page. */
export function pageArguments(most: number) {
  return {
    limit: z.int().min(1).max(most).default(Math.min(50, most)).describe(`Items at most, 1 to ${most}.`),
    cursor: Cursor.optional().describe('next_cursor of the last page, to continue there.'),
  };
}
