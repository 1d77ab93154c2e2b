/** B3: a child's question to its parent, until the answer is in the child's next model request. */
import { alternate, alternateWarm } from '../alternate.js';
import type { BenchContext } from '../context.js';
import { readDelays, readIntervals, toBareRow, toDelayRows } from '../delays.js';
import { openPair, type Pair } from '../deployment.js';
import { ratioAtLeast, ratioAtMost, type Row } from '../row.js';
import { median } from '../statistics.js';

const RESUME = { median: ratioAtMost(2), tail: 5 };
/** What DBOS reached in the reference run of benchmarks.md: 186 asks a second where bare Postgres did 702. */
const THROUGHPUT = ratioAtLeast(0.26);
const PARENTS = 8;

interface Sizes {
  /** Children of each parent. */
  readonly children: number;
  /** Answers per run, one after the other. */
  readonly answers: number;
  /** Answers per child and run, all children at once. */
  readonly times: number;
  /** Questions of a child whose parent is on the loop too. */
  readonly hops: number;
}

export async function measureAskResume(context: BenchContext): Promise<readonly Row[]> {
  const sizes: Sizes = context.options.quick
    ? { children: 4, answers: 25, times: 2, hops: 12 }
    : { children: 8, answers: 60, times: 4, hops: 30 };
  context.progress('starting');
  const pair = await openPair(context);
  try {
    for (const side of [pair.ours, pair.bare]) await side.call('createFamilies', { parents: PARENTS, children: sizes.children });
    return [
      ...(await measureResume(context, pair, sizes)),
      await measureHop(context, pair, sizes),
      await measureThroughput(context, pair, sizes),
    ];
  } finally {
    await pair.close();
  }
}

async function measureResume(context: BenchContext, pair: Pair, { answers: count }: Sizes): Promise<readonly Row[]> {
  context.progress('answer → resume');
  const delays = await alternateWarm(context.options.runs, async (side, run) =>
    readDelays(context, await pair[side].call('answerOneByOne', { mark: `resume-${side}-${run}`, count })),
  );
  return toDelayRows('B3', 'answer → child’s next request', delays, RESUME);
}

async function measureHop(context: BenchContext, pair: Pair, { hops: times }: Sizes): Promise<Row> {
  context.progress('whole hop');
  const intervals = await alternateWarm(context.options.runs, async (side, run) => {
    const mark = `hop-${side}-${run}`;
    await pair[side].call('goRound', { mark, times });
    return readIntervals(context, mark, times);
  });
  const about = { id: 'B3', work: 'whole hop, both agents on the loop, p50', unit: 'ms', goal: null } as const;
  return toBareRow(about, median(intervals.ours.flat()), median(intervals.bare.flat()));
}

async function measureThroughput(context: BenchContext, pair: Pair, { times }: Sizes): Promise<Row> {
  context.progress('throughput');
  const rates = await alternate(context.options.runs, async (side) => {
    const { answers, ms } = await pair[side].call('answerAll', { times });
    return (answers / ms) * 1_000;
  });
  return toBareRow(
    { id: 'B3', work: 'asks answered and resumed, all at once', unit: 'per s', goal: THROUGHPUT },
    median(rates.ours),
    median(rates.bare),
  );
}
