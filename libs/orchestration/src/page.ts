/** Pages of lists: an opaque cursor says where the last page ended. */
import { type Page, WholeNumber } from '@echelon/contracts';
import { isRefusal, refuse, type Refusal } from '@echelon/domain';
import type { Keyset, PageOf, QueueKey } from '@echelon/persistence';
import { z } from 'zod';

interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Of a queue entry (`rankOf`). */
const LAST_RANK = 3;
const TimeKey = z.tuple([z.iso.datetime({ precision: 3 }), z.uuid()]);
const NumberKey = z.tuple([WholeNumber]);
const QueuePlace = z.tuple([z.int().min(0).max(LAST_RANK), WholeNumber]);

/** The page after a cursor of `pageByCreation`; one row more than asked for tells whether there is another page. */
export function readPageByCreation(request: PageRequest): PageOf<Keyset> | Refusal {
  const page = readPage(TimeKey, request);
  if (isRefusal(page)) return page;
  return { take: page.take, after: page.after && { createdAt: new Date(page.after[0]), id: page.after[1] } };
}

/** The page after a number, such as a turn's. */
export function readPageByNumber(request: PageRequest): PageOf<number> | Refusal {
  const page = readPage(NumberKey, request);
  return isRefusal(page) ? page : { take: page.take, after: page.after && page.after[0] };
}

/** The page after a place in a queue. */
export function readPageByPlace(request: PageRequest): PageOf<QueueKey> | Refusal {
  const page = readPage(QueuePlace, request);
  if (isRefusal(page)) return page;
  return { take: page.take, after: page.after && { rank: page.after[0], order: page.after[1] } };
}

export function pageByCreation<Row extends { readonly created_at: Date; readonly id: string }, T>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => T,
): Page<T> {
  return toPage(rows, limit, view, (row) => [row.created_at.toISOString(), row.id]);
}

/** Makes a page of the rows read with a `read…` function's `take`; `keyOf` gives the cursor's content. */
export function toPage<Row, T>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => T,
  keyOf: (row: Row) => readonly (string | number)[],
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { items: shown.map(view), next_cursor: last ? writeCursor(keyOf(last)) : null };
}

function readPage<Key>(schema: z.ZodType<Key>, { limit, cursor }: PageRequest): PageOf<Key> | Refusal {
  if (cursor === undefined) return { take: limit + 1, after: null };
  const key = schema.safeParse(parseCursor(cursor));
  return key.success
    ? { take: limit + 1, after: key.data }
    : refuse('INVALID_INPUT', { field: 'cursor', rule: 'next_cursor of the last page' });
}

function writeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

function parseCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
