/** Times from what a contestant began to the model request that followed from it. */
import { mapSides, type Sides } from './alternate.js';
import type { BenchContext } from './context.js';
import type { Begun } from './contestant.js';
import { atMost, type Goal, type Row } from './row.js';
import { median, percentile } from './statistics.js';
import { toRow } from './to-row.js';

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
  const all = mapSides((side) => delays[side].flat());
  return [
    toDurableRow({ id, work: `${work}, p50`, unit: 'ms', goals: goals.median }, all, median),
    toDurableRow({ id, work: `${work}, p99 ÷ p50`, unit: '×', goals: [atMost(goals.tail)] }, all, tailOf),
  ];
}

/** A row of those who run sessions on Postgres. */
export function toDurableRow(
  about: Pick<Row, 'id' | 'work' | 'unit' | 'goals'>,
  measured: Sides<number>,
  reduce: (values: readonly number[]) => number = median,
): Row {
  return toRow({ ...about, against: ['bare', 'DBOS'] }, measured, (value) => value, reduce);
}

function tailOf(delays: readonly number[]): number {
  return percentile(delays, 0.99) / median(delays);
}
