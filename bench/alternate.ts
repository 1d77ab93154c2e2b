/** The same figure of both sides, one of each per run. */
export interface Sides<T> {
  readonly ours: T[];
  readonly bare: T[];
}

export type Side = keyof Sides<unknown>;

/** Lets both sides take turns, so that what else happens on the machine meets both. */
export async function alternate<T>(runs: number, measure: (side: Side, run: number) => Promise<T>): Promise<Sides<T>> {
  const sides: Sides<T> = { ours: [], bare: [] };
  for (let run = 0; run < runs; run++) {
    sides.ours.push(await measure('ours', run));
    sides.bare.push(await measure('bare', run));
  }
  return sides;
}

/** The same after one run of each that does not count. */
export async function alternateWarm<T>(runs: number, measure: (side: Side, run: number) => Promise<T>): Promise<Sides<T>> {
  await alternate(1, (side) => measure(side, runs));
  return alternate(runs, measure);
}
