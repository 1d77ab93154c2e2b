/** B6: sessions that wait for answers: what they cost while they wait, whether they survive a kill, and how fast many answers drain. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mapSides, type Sides } from '../alternate.js';
import type { BenchContext } from '../context.js';
import type { RestCost } from '../contestant.js';
import { type Deployment, Field, type FieldSide } from '../deployment.js';
import { toDurableRow } from '../delays.js';
import { atLeast, atMost, type Goal, type Row, type Unit } from '../row.js';

/** Every family: one parent, and children that wait. */
const CHILDREN = 10;
/** Until a process that has just started is at rest, and until one that was killed has taken up its waits at the latest. */
const SETTLE_MS = 3_000;
const RECOVERY_MS = 60_000;

interface Sizes {
  /** Few enough to cost nothing: what many are compared with. */
  readonly few: number;
  /** Sessions that wait; DBOS holds each in memory, and gets fewer. */
  readonly waiting: Readonly<Record<FieldSide, number>>;
  readonly answers: number;
  readonly restMs: number;
}

interface Figures {
  /** Answers per second of few children, as B3 measures it. */
  readonly rate: number;
  readonly few: RestCost;
  readonly many: RestCost;
  readonly waiting: number;
  readonly survived: number;
  readonly drainRate: number;
}

export async function measureWaitingSessions(context: BenchContext): Promise<readonly Row[]> {
  const sizes: Sizes = context.options.quick
    ? { few: 50, waiting: { ours: 5_000, bare: 5_000, DBOS: 200 }, answers: 500, restMs: 3_000 }
    : { few: 100, waiting: { ours: 100_000, bare: 100_000, DBOS: 1_000 }, answers: 10_000, restMs: 10_000 };
  context.progress('starting');
  const field = await Field.open(context);
  const figures = mapSides<Figures[]>(() => []);
  try {
    for (const side of field.sides) figures[side].push(await measureSide(context, { side, deployment: field.of(side), sizes }));
  } finally {
    await field.close();
  }
  return toRows(figures, sizes);
}

async function measureSide(
  context: BenchContext,
  { side, deployment, sizes }: { readonly side: FieldSide; readonly deployment: Deployment; readonly sizes: Sizes },
): Promise<Figures> {
  const progress = (what: string) => context.progress(`${side}: ${what}`);
  progress(`${sizes.few} wait`);
  await deployment.call('createFamilies', { parents: sizes.few / CHILDREN, children: CHILDREN });
  const rate = perSecond(await deployment.call('answerAll', { times: 2 }));
  const { cost: few } = await restart(deployment, sizes, sizes.few);
  progress(`${sizes.waiting[side]} wait`);
  await deployment.call('multiply', { copies: (sizes.waiting[side] - sizes.few) / CHILDREN });
  const waiting = await deployment.call('countWaiting', {});
  const { survived, cost: many } = await restart(deployment, sizes, waiting);
  progress('answers, all at once');
  const drainRate = perSecond(await deployment.call('answerMany', { count: Math.min(sizes.answers, waiting) }));
  return { rate, few, many, waiting, survived, drainRate };
}

/** Kills the process, and measures the next one once it is at rest. */
async function restart(deployment: Deployment, { restMs }: Sizes, waiting: number): Promise<{ survived: number; cost: RestCost }> {
  await deployment.restart();
  const deadline = Date.now() + RECOVERY_MS;
  while ((await deployment.call('countWaiting', {})) < waiting && Date.now() < deadline) await sleep(100);
  await sleep(SETTLE_MS);
  const cost = await deployment.call('restCost', { ms: restMs });
  return { survived: await deployment.call('countWaiting', {}), cost };
}

function perSecond({ answers, ms }: { readonly answers: number; readonly ms: number }): number {
  return (answers / ms) * 1_000;
}

function toRows(figures: Sides<Figures>, { few, waiting, answers }: Sizes): readonly Row[] {
  const row = (work: string, unit: Unit, select: (figures: Figures) => number, goals: readonly Goal[] = []) =>
    toDurableRow(
      { id: 'B6', work, unit, goals },
      mapSides((side) => figures[side].map(select)),
    );
  return [
    row(`heap per session of ${waiting.ours} that wait (DBOS: ${waiting.DBOS})`, 'KB', (one) => heapEach(one, few), [atMost(0.2)]),
    row('transactions while they wait', 'per s', ({ many }) => many.transactionsPerSecond),
    // Without a goal: what a process does after its start differs by more between two starts than many sessions could cost.
    row(`the same, less those while ${few} wait`, 'per s', (one) => one.many.transactionsPerSecond - one.few.transactionsPerSecond),
    row('processor while they wait', 'ms CPU/s', ({ many }) => many.cpuMsPerSecond),
    row(`the same, less that while ${few} wait`, 'ms CPU/s', (one) => one.many.cpuMsPerSecond - one.few.cpuMsPerSecond),
    row('wait after kill -9 and a restart ÷ before', '×', (one) => one.survived / one.waiting, [atLeast(1)]),
    row(`${answers} answers at once (DBOS: at most all)`, 'per s', ({ drainRate }) => drainRate),
    row(`the same ÷ rate of ${few} that ask again and again`, '×', (one) => one.drainRate / one.rate, [atLeast(1)]),
  ];
}

function heapEach({ many, few, waiting }: Figures, fewWait: number): number {
  return Math.max(0, many.heapKb - few.heapKb) / (waiting - fewWait);
}
