/** B1: what a round of the loop costs beyond the model and the tool, in processor time. */
import { alternate, type Sides } from '../alternate.js';
import type { BenchContext } from '../context.js';
import { MeasuredProgram } from '../measured-program.js';
import type { LoopCost, LoopWork } from '../programs/loop.js';
import { atMost, type Row } from '../row.js';
import { median } from '../statistics.js';

type Work = Omit<LoopWork, 'loop'>;

const LOOPS = ['ours', 'bare'] as const;

interface Plan {
  readonly work: string;
  readonly goal: number;
  readonly warm: boolean;
  readonly each: Work;
}

/** Half of what the AI SDK cost in the reference run of benchmarks.md, as a multiple of bare. */
const HALF_OF_AI_SDK: Readonly<Record<number, number>> = { 10: 2.5, 100: 2.4, 1_000: 1.6 };
const FROM_MEMORY = 1.5;
const LATE_ROUND = 1;
/** Rounds in a process before the figure counts as warm. */
const WARM_UP_ROUNDS = { memory: 10_000, http: 300 };

export async function measureLoopOverhead(context: BenchContext): Promise<readonly Row[]> {
  const { quick } = context.options;
  const url = context.modelUrl;
  const plans = [
    ...(quick ? [100] : [10, 100, 1_000]).flatMap((rounds) => [coldPlan(rounds, null), warmPlan(rounds, null, 10_000 / rounds)]),
    ...(quick ? [100] : [10, 100]).flatMap((rounds) => [coldPlan(rounds, url), warmPlan(rounds, url, 200 / rounds)]),
  ];
  const rows: Row[] = [];
  for (const plan of plans) rows.push(await measurePlan(context, plan));
  if (!quick) rows.push(...(await measureLongLoop(context)));
  return rows;
}

function coldPlan(rounds: number, url: string | null): Plan {
  return { ...describe(rounds, url, 'cold'), warm: false, each: { rounds, loops: 1, url } };
}

function warmPlan(rounds: number, url: string | null, loops: number): Plan {
  return { ...describe(rounds, url, 'warm'), warm: true, each: { rounds, loops, url } };
}

function describe(rounds: number, url: string | null, state: string): Pick<Plan, 'work' | 'goal'> {
  const goal = url === null ? FROM_MEMORY : (HALF_OF_AI_SDK[rounds] ?? 1);
  return { work: `a round of ${rounds}, ${url === null ? 'from memory' : 'over HTTP'}, ${state}`, goal };
}

async function measurePlan(context: BenchContext, plan: Plan): Promise<Row> {
  context.progress(plan.work);
  const costs = plan.warm ? await measureWarm(context, plan.each) : await measureCold(context, plan.each);
  return toRow(plan.work, plan.goal, costs, ({ perRound }) => perRound);
}

type Costs = Sides<LoopCost>;

async function measureCold({ options }: BenchContext, work: Work): Promise<Costs> {
  return alternate(LOOPS, options.runs, async (loop) => {
    const program = new MeasuredProgram('loop');
    const cost = await program.call<LoopCost>('measure', { ...work, loop });
    await program.close();
    return cost;
  });
}

async function measureWarm({ options }: BenchContext, work: Work): Promise<Costs> {
  const programs = { ours: new MeasuredProgram('loop'), bare: new MeasuredProgram('loop') };
  const rounds = WARM_UP_ROUNDS[work.url === null ? 'memory' : 'http'];
  for (const loop of LOOPS) {
    await programs[loop].call('measure', { ...work, loop, loops: Math.ceil(rounds / work.rounds) });
  }
  const costs = await alternate(LOOPS, options.runs, (loop) => programs[loop].call<LoopCost>('measure', { ...work, loop }));
  await Promise.all([programs.ours.close(), programs.bare.close()]);
  return costs;
}

/** 1,000 rounds over HTTP, in fresh processes: the mean round, and the rounds at the end of a history of 1 MB. */
async function measureLongLoop(context: BenchContext): Promise<readonly Row[]> {
  const { work, goal } = describe(1_000, context.modelUrl, 'cold');
  context.progress(work);
  const short = { ...context, options: { ...context.options, runs: Math.min(2, context.options.runs) } };
  const costs = await measureCold(short, { rounds: 1_000, loops: 1, url: context.modelUrl });
  return [
    toRow(work, goal, costs, ({ perRound }) => perRound),
    toRow('rounds 951 to 1,000 over HTTP, results of 1 KB', LATE_ROUND, costs, ({ perLateRound }) => perLateRound),
  ];
}

function toRow(work: string, goal: number, { ours, bare }: Costs, select: (cost: LoopCost) => number): Row {
  return {
    id: 'B1',
    work,
    unit: 'ms CPU',
    ours: median(ours.map(select)),
    references: { bare: median(bare.map(select)) },
    goals: [atMost(goal, 'bare')],
  };
}
