/** Who takes part: ours, the least that the same work takes, and a peer. */
export type Side = 'ours' | 'bare' | 'dbos';

/** The same figure of each side, one of each per run; none of a side that does not take part. */
export type Sides<T> = Readonly<Record<Side, T[]>>;

/** Lets the sides take turns, so that what else happens on the machine meets all. */
export async function alternate<T, S extends Side>(
  sides: readonly S[],
  runs: number,
  measure: (side: S, run: number) => Promise<T>,
): Promise<Sides<T>> {
  const measured: Sides<T> = { ours: [], bare: [], dbos: [] };
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
