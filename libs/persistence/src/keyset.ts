/** Where a page by creation ended: pages go from new to old, and equal times are told apart by id. */
export interface Keyset {
  readonly createdAt: Date;
  readonly id: string;
}

/** A page to read: at most `take` rows, those after `after`. */
export interface PageOf<Key> {
  readonly take: number;
  readonly after: Key | null;
}

/** Rows that were created before the keyset. */
export function olderThan(after: Keyset | null) {
  if (!after) return {};
  return { OR: [{ created_at: { lt: after.createdAt } }, { created_at: after.createdAt, id: { lt: after.id } }] };
}

/** From new to old, the order that `olderThan` continues. */
export const NEWEST_FIRST = [{ created_at: 'desc' as const }, { id: 'desc' as const }];
