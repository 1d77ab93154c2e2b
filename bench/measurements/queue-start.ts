/** B4: from the commit of a queue entry to the turn's first model request, one at a time and at 100 a second. */
import { alternateWarm } from '../alternate.js';
import type { BenchContext } from '../context.js';
import { readDelays, toDelayRows } from '../delays.js';
import { type DeploymentOptions, Field } from '../deployment.js';
import { openRedis } from '../redis.js';
import { atMost, type Row } from '../row.js';

const GOALS = { median: [atMost(1.5, 'bare')], tail: 4 };
const RATE_PER_SECOND = 100;

/** How a committed entry reaches the worker. */
interface Path {
  readonly name: string;
  readonly options: DeploymentOptions;
}

interface Pace {
  readonly name: string;
  readonly everyMs: number | null;
  readonly count: number;
}

export async function measureQueueStart(context: BenchContext): Promise<readonly Row[]> {
  const redis = await openRedis(context);
  const paths: readonly Path[] = [
    { name: 'same process', options: {} },
    { name: 'queue on Postgres', options: { apart: true } },
    ...(redis ? [{ name: 'queue on Redis', options: { apart: true, redisUrl: redis.url } }] : []),
  ];
  const rows: Row[] = [];
  try {
    for (const path of paths) rows.push(...(await measurePath(context, path)));
  } finally {
    await redis?.close();
  }
  return rows;
}

async function measurePath(context: BenchContext, { name, options }: Path): Promise<readonly Row[]> {
  const { quick } = context.options;
  context.progress(`${name}: starting`);
  const field = await Field.open(context, options);
  const idle: Pace = { name: 'idle', everyMs: null, count: quick ? 20 : 60 };
  const busy: Pace = { name: `${RATE_PER_SECOND}/s`, everyMs: 1_000 / RATE_PER_SECOND, count: quick ? 50 : 200 };
  const paces = quick && options.apart ? [idle] : [idle, busy];
  try {
    await field.each((deployment) => deployment.call('createRoots', { count: quick ? 20 : 50 }));
    const rows: Row[] = [];
    for (const pace of paces) rows.push(...(await measurePace(context, { field, path: name, pace })));
    return rows;
  } finally {
    await field.close();
  }
}

async function measurePace(
  context: BenchContext,
  { field, path, pace }: { readonly field: Field; readonly path: string; readonly pace: Pace },
): Promise<readonly Row[]> {
  const work = `entry → first request, ${path}, ${pace.name}`;
  context.progress(work);
  const { everyMs, count } = pace;
  const delays = await alternateWarm(field.sides, context.options.runs, async (side, run) =>
    readDelays(context, await field.of(side).call('send', { mark: `start-${side}-${run}`, count, everyMs })),
  );
  return toDelayRows('B4', work, delays, GOALS);
}
