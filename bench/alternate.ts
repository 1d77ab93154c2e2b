import type { ReferenceName } from './row.js';

/** Who takes part: ours, and whom it is compared with. */
export type Side = 'ours' | ReferenceName;

/** The same of each side. */
export type EachSide<T> = Readonly<Record<Side, T>>;

/** The same figure of each side, one of each per run; none of a side that does not take part. */
export type Sides<T> = EachSide<readonly T[]>;

/** Makes something of each side's own. */
export function mapSides<T>(make: (side: Side) => T): EachSide<T> {
  return { ours: make('ours'), bare: make('bare'), DBOS: make('DBOS'), 'AI SDK': make('AI SDK'), LangGraph: make('LangGraph') };
}

/** Lets the sides take turns, so that what else happens on the machine meets all. */
export async function alternate<T, S extends Side>(
  sides: readonly S[],
  runs: number,
  measure: (side: S, run: number) => Promise<T>,
): Promise<Sides<T>> {
  const measured = mapSides<T[]>(() => []);
  for (let run = 0; run < runs; run++) {
    for (const side of sides) measured[side].push(await measure(side, run));
  }
  return measured;
}

/** The same after one run of each that does not count. */
export async function alternateWarm<T, S extends Side>(
  sides: readonly S[],
  runs: number,
  measure: (side: S, run: number) => Promise<T>,
): Promise<Sides<T>> {
  await alternate(sides, 1, (side) => measure(side, runs));
  return alternate(sides, runs, measure);
}
