/** B2: what a round of the loop costs the processor and Postgres when every step of it is stored. */
import { alternate, type Sides } from '../alternate.js';
import type { BenchContext } from '../context.js';
import { deploymentEnv } from '../deployment.js';
import { MeasuredProgram } from '../measured-program.js';
import type { JournaledCost, JournaledWork } from '../programs/journaled-loop.js';
import type { JournaledName } from '../programs/journaled-runners.js';
import { atMost, type Goal, type Row, type Unit } from '../row.js';
import { toRow } from '../to-row.js';

type JournaledSide = Extract<JournaledName, 'ours' | 'bare' | 'LangGraph'>;

const ROUNDS = 100;
const LONG_ROUNDS = 300;
const LONG_RUNS = 2;
const TRANSACTIONS = [atMost(2.1)];
const WAL = [atMost(3, 'bare')];
const WAL_GROWTH = [atMost(1.1)];
const CPU = [atMost(0.25, 'LangGraph')];

export async function measureJournaledLoop(context: BenchContext): Promise<readonly Row[]> {
  const sides: readonly JournaledSide[] = context.peersFailure === null ? ['ours', 'bare', 'LangGraph'] : ['ours', 'bare'];
  const programs = new Map<JournaledSide, MeasuredProgram>();
  try {
    for (const side of sides) programs.set(side, await startProgram(context));
    const measure = (side: JournaledSide, work: Partial<JournaledWork>) =>
      measureLoop(context, programs.get(side), { loop: side, ...work });
    const { quick, runs } = context.options;
    context.progress(`${ROUNDS} rounds, cold`);
    const cold = await alternate(sides, 1, (side) => measure(side, {}));
    context.progress(`${ROUNDS} rounds, warm`);
    const warm = await alternate(sides, runs, (side) => measure(side, {}));
    context.progress('tools without effects');
    const reading = await alternate(sides, 1, (side) => measure(side, { effect: 'read' }));
    const long = quick ? null : await measureLong(context, sides, measure);
    return [...toRows(cold, warm, reading), ...(long ? [toGrowthRow(long)] : []), await measureEvents(context)];
  } finally {
    for (const program of programs.values()) await program.close();
  }
}

async function startProgram(context: BenchContext): Promise<MeasuredProgram> {
  return new MeasuredProgram('journaled-loop', await deploymentEnv(context));
}

function measureLoop(
  { modelUrl }: BenchContext,
  program: MeasuredProgram | undefined,
  work: Pick<JournaledWork, 'loop'> & Partial<JournaledWork>,
): Promise<JournaledCost> {
  if (!program) throw new Error(`${work.loop} does not take part`);
  return program.call<JournaledCost>('measure', { url: modelUrl, rounds: ROUNDS, effect: 'execute', ...work } satisfies JournaledWork);
}

function measureLong(
  { options, progress }: BenchContext,
  sides: readonly JournaledSide[],
  measure: (side: JournaledSide, work: Partial<JournaledWork>) => Promise<JournaledCost>,
): Promise<Sides<JournaledCost>> {
  progress(`${LONG_ROUNDS} rounds`);
  return alternate(sides, Math.min(LONG_RUNS, options.runs), (side) => measure(side, { rounds: LONG_ROUNDS }));
}

/** Ours once more, with what a serving process does with the events that barriers tell. */
async function measureEvents(context: BenchContext): Promise<Row> {
  context.progress('with events');
  const program = await startProgram(context);
  const measure = () => measureLoop(context, program, { loop: 'ours with events' });
  await measure();
  const costs = await alternate(['ours'], context.options.runs, measure);
  await program.close();
  const about = { id: 'B2', work: 'the same, events numbered meanwhile', unit: 'count', goals: [], against: [] } as const;
  return toRow(about, costs, ({ transactions }) => transactions);
}

function toRows(cold: Sides<JournaledCost>, warm: Sides<JournaledCost>, reading: Sides<JournaledCost>): readonly Row[] {
  const row = (work: string, unit: Unit, goals: readonly Goal[]) =>
    ({ id: 'B2', work, unit, goals, against: ['bare', 'LangGraph'] }) as const;
  const each = `a durable round of ${ROUNDS}`;
  return [
    toRow(row(`${each}, cold`, 'ms CPU', CPU), cold, ({ cpuMs }) => cpuMs),
    toRow(row(`${each}, warm`, 'ms CPU', CPU), warm, ({ cpuMs }) => cpuMs),
    toRow(row(`WAL of ${each}`, 'KB', WAL), warm, ({ walKb }) => walKb),
    toRow(row(`write transactions, tools without effects`, 'count', []), reading, ({ transactions }) => transactions),
    toRow(row(`write transactions of ${each}`, 'count', TRANSACTIONS), warm, ({ transactions }) => transactions),
  ];
}

function toGrowthRow(long: Sides<JournaledCost>): Row {
  const about = {
    id: 'B2',
    work: 'WAL of rounds 250 to 300 ÷ rounds 20 to 70',
    unit: '×',
    goals: WAL_GROWTH,
    against: ['bare', 'LangGraph'],
  } as const;
  return toRow(about, long, ({ earlyWalKb, lateWalKb }) => lateWalKb / earlyWalKb);
}
