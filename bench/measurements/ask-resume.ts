/** B3: a child's question to its parent, until the answer is in the child's next model request. */
import { alternate, alternateWarm, mapSides } from '../alternate.js';
import type { BenchContext } from '../context.js';
import { readDelays, readIntervals, toDelayRows, toDurableRow } from '../delays.js';
import { Field } from '../deployment.js';
import { atLeast, atMost, type Row } from '../row.js';

const RESUME = { median: [atMost(2, 'bare'), atMost(1, 'DBOS')], tail: 5 };
const THROUGHPUT = [atLeast(1, 'DBOS')];
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
  const field = await Field.open(context);
  try {
    await field.each((deployment) => deployment.call('createFamilies', { parents: PARENTS, children: sizes.children }));
    return [
      ...(await measureResume(context, field, sizes)),
      await measureHop(context, field, sizes),
      await measureThroughput(context, field, sizes),
    ];
  } finally {
    await field.close();
  }
}

async function measureResume(context: BenchContext, field: Field, { answers: count }: Sizes): Promise<readonly Row[]> {
  context.progress('answer → resume');
  const delays = await alternateWarm(field.sides, context.options.runs, async (side, run) =>
    readDelays(context, await field.of(side).call('answerOneByOne', { mark: `resume-${side}-${run}`, count })),
  );
  return toDelayRows('B3', 'answer → child’s next request', delays, RESUME);
}

async function measureHop(context: BenchContext, field: Field, { hops: times }: Sizes): Promise<Row> {
  context.progress('whole hop');
  const intervals = await alternateWarm(field.sides, context.options.runs, async (side, run) => {
    const mark = `hop-${side}-${run}`;
    await field.of(side).call('goRound', { mark, times });
    return readIntervals(context, mark, times);
  });
  const each = mapSides((side) => intervals[side].flat());
  return toDurableRow({ id: 'B3', work: 'whole hop, both agents on the loop, p50', unit: 'ms', goals: [] }, each);
}

async function measureThroughput(context: BenchContext, field: Field, { times }: Sizes): Promise<Row> {
  context.progress('throughput');
  const rates = await alternate(field.sides, context.options.runs, async (side) => {
    const { answers, ms } = await field.of(side).call('answerAll', { times });
    return (answers / ms) * 1_000;
  });
  return toDurableRow({ id: 'B3', work: 'asks answered and resumed, all at once', unit: 'per s', goals: THROUGHPUT }, rates);
}
