/** Times from what a contestant began to the model request that followed from it. */
import type { Sides } from './alternate.js';
import type { BenchContext } from './context.js';
import type { Begun } from './contestant.js';
import { atMost, type Goal, type Row, type Unit } from './row.js';
import { median, percentile } from './statistics.js';

/** Arrival times of model requests by their mark, in ms of the common clock. */
type Arrivals = Readonly<Record<string, readonly number[]>>;

export async function readDelays({ model }: BenchContext, begun: readonly Begun[]): Promise<readonly number[]> {
  const arrivals = await model.call<Arrivals>('takeArrivals');
  return begun.map(({ mark, at }) => {
    const arrived = arrivals[mark]?.[0];
    if (arrived === undefined) throw new Error(`no request followed from ${mark}`);
    return arrived - at;
  });
}

/** Times between the arrivals of one mark, once there are `count` of them. */
export async function readIntervals({ model }: BenchContext, mark: string, count: number): Promise<readonly number[]> {
  await model.call('waitForMark', { mark, count });
  const times = (await model.call<Arrivals>('takeArrivals'))[mark] ?? [];
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}

export interface DelayGoals {
  readonly median: readonly Goal[];
  /** Most that the slowest hundredth may be, as a multiple of our median. */
  readonly tail: number;
}

/** A row for the median, and one for the tail, over the delays of all runs. */
export function toDelayRows(id: string, work: string, delays: Sides<readonly number[]>, goals: DelayGoals): readonly Row[] {
  const all = { ours: delays.ours.flat(), bare: delays.bare.flat(), dbos: delays.dbos.flat() };
  return [
    toRow({ id, work: `${work}, p50`, unit: 'ms', goals: goals.median }, all, median),
    toRow({ id, work: `${work}, p99 ÷ p50`, unit: '×', goals: [atMost(goals.tail)] }, all, tailOf),
  ];
}

/** A row of one number for each side, by default the median of what was measured. */
export function toRow(
  about: { readonly id: string; readonly work: string; readonly unit: Unit; readonly goals: readonly Goal[] },
  measured: Readonly<Record<keyof Sides<unknown>, readonly number[]>>,
  reduce: (values: readonly number[]) => number = median,
): Row {
  const dbos = measured.dbos.length === 0 ? null : reduce(measured.dbos);
  return { ...about, ours: reduce(measured.ours), references: { bare: reduce(measured.bare), DBOS: dbos } };
}

function tailOf(delays: readonly number[]): number {
  return percentile(delays, 0.99) / median(delays);
}
