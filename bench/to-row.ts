import type { Sides } from './alternate.js';
import type { ReferenceName, Row } from './row.js';
import { median } from './statistics.js';

/** A row of one number for each side, by default the median of what was measured. */
export function toRow<T>(
  about: Pick<Row, 'id' | 'work' | 'unit' | 'goals'> & { readonly against: readonly ReferenceName[] },
  measured: Sides<T>,
  select: (one: T) => number,
  reduce: (values: readonly number[]) => number = median,
): Row {
  const { against, ...described } = about;
  const figureOf = (values: readonly T[]) => (values.length === 0 ? null : reduce(values.map(select)));
  const references = Object.fromEntries(against.map((name) => [name, figureOf(measured[name])]));
  return { ...described, ours: reduce(measured.ours.map(select)), references };
}
