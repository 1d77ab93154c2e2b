/** Times from what a contestant began to the model request that followed from it. */
import type { Sides } from './alternate.js';
import type { BenchContext } from './context.js';
import type { Begun } from './contestant.js';
import { figureAtMost, type Goal, type Row, type Unit } from './row.js';
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
  readonly median: Goal;
  /** Most that the slowest hundredth may be, as a multiple of our median. */
  readonly tail: number;
}

/** A row for the median, and one for the tail, over the delays of all runs. */
export function toDelayRows(id: string, work: string, delays: Sides<readonly number[]>, goals: DelayGoals): readonly Row[] {
  const [ours, bare] = [delays.ours.flat(), delays.bare.flat()];
  return [
    toBareRow({ id, work: `${work}, p50`, unit: 'ms', goal: goals.median }, median(ours), median(bare)),
    toBareRow({ id, work: `${work}, p99 ÷ p50`, unit: '×', goal: figureAtMost(goals.tail) }, tailOf(ours), tailOf(bare)),
  ];
}

export function toBareRow(
  about: { readonly id: string; readonly work: string; readonly unit: Unit; readonly goal: Goal | null },
  ours: number,
  bare: number,
): Row {
  return { ...about, ours, reference: { name: 'bare Postgres', figure: bare } };
}

function tailOf(delays: readonly number[]): number {
  return percentile(delays, 0.99) / median(delays);
}
