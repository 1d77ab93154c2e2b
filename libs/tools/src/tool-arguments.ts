/** Arguments that several tools share. */
import { Cursor, Id } from '@echelon/contracts';
import { z } from 'zod';

/** Stands for the caller's own task. */
export const SELF = 'self';

/** An id, checked here but described to models without its pattern: a schema is read in every request. */
export function exactId(description: string) {
  return z.string().refine(isFullId, 'must be a full id').describe(description);
}

/** The caller's own task by the word, or another by its id. */
export function selfOrId(description: string) {
  return z
    .string()
    .refine((text) => text === SELF || isFullId(text), `must be "${SELF}" or a full id`)
    .describe(description);
}

/** Arguments of a tool that lists page by page. */
export function pageArguments(most: number) {
  return {
    limit: z.int().min(1).max(most).default(Math.min(50, most)).describe(`Items at most, 1 to ${most}.`),
    cursor: Cursor.optional().describe('next_cursor of the last page, to continue there.'),
  };
}

function isFullId(text: string): boolean {
  return Id.safeParse(text).success;
}
