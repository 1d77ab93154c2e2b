import { LIMITS } from '@echelon/domain';
import { z } from 'zod';

export const Id = z.uuid().meta({ description: 'UUIDv7' });
/** RFC 3339, UTC, milliseconds. */
export const Instant = z.iso.datetime({ precision: 3 });
export const Cursor = z.string().max(512).meta({ description: 'Opaque: pass on what the last page returned.' });

/** A whole number that a client sends: no larger than what the database stores. */
export const WholeNumber = z.int().min(0).max(LIMITS.whole_number.default);
export const PositiveNumber = z.int().positive().max(LIMITS.whole_number.default);

/** How many items a client may ask for, from a query string. */
export const PageLimit = z.coerce.number().int().min(1).max(LIMITS.page_items.default).default(50);
export const PageQuery = z.strictObject({ limit: PageLimit, cursor: Cursor.optional() });
export type PageQuery = z.infer<typeof PageQuery>;

/** A page of a list: `next_cursor` is null on the last one. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next_cursor: Cursor.nullable() });
}
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}
