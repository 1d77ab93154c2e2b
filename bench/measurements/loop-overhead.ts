/** B1: what a round of the loop costs beyond the model and the tool, in processor time. */
import { alternate, type Sides } from '../alternate.js';
import type { BenchContext } from '../context.js';
import { MeasuredProgram } from '../measured-program.js';
import type { LoopCost, LoopWork } from '../programs/loop.js';
import type { LoopName } from '../programs/loop-runners.js';
import { atMost, type Goal, type ReferenceName, type Row, type Unit } from '../row.js';
import { toRow } from '../to-row.js';

interface Plan {
  readonly work: string;
  readonly unit: Unit;
  readonly goals: readonly Goal[];
  readonly warm: boolean;
  readonly each: Omit<LoopWork, 'loop'>;
}

const FROM_MEMORY = [atMost(1.5, 'bare')];
const OVER_HTTP = [atMost(0.5, 'AI SDK')];
const LATE_ROUND = [atMost(1, 'bare')];
/** Rounds, or pieces of text, in a process before its figure counts as warm. */
const WARM_UP = { memory: 10_000, http: 300, pieces: 5_000 };
const QUICK_SHARE = 3;
const WARM_ROUNDS = { memory: 10_000, http: 200 };
const CALLS = 8;
const PIECES = 2_000;
const LONG_RUNS = 2;

export async function measureLoopOverhead(context: BenchContext): Promise<readonly Row[]> {
  const { quick } = context.options;
  const url = context.modelUrl;
  const plans = [
    ...(quick ? [100] : [10, 100, 1_000]).flatMap((rounds) => [planRounds(rounds, null, false), planRounds(rounds, null, true)]),
    ...(quick ? [100] : [10, 100]).flatMap((rounds) => [planRounds(rounds, url, false), planRounds(rounds, url, true)]),
    ...(quick ? [true] : [false, true]).flatMap((warm) => [planCalls(10, url, warm), planText(url, warm)]),
  ];
  const rows: Row[] = [];
  for (const plan of plans) rows.push(await measurePlan(context, plan));
  if (!quick) rows.push(...(await measureLongLoop(context)));
  return rows;
}

function planRounds(rounds: number, url: string | null, warm: boolean): Plan {
  const from = url === null ? 'memory' : 'http';
  const loops = warm ? WARM_ROUNDS[from] / rounds : 1;
  return {
    work: `a round of ${rounds}, ${url === null ? 'from memory' : 'over HTTP'}, ${nameOf(warm)}`,
    unit: 'ms CPU',
    goals: url === null ? FROM_MEMORY : OVER_HTTP,
    warm,
    each: { url, model: `lines-${rounds}`, count: rounds, loops },
  };
}

function planCalls(rounds: number, url: string, warm: boolean): Plan {
  const work = `a round of ${rounds} with ${CALLS} calls, over HTTP, ${nameOf(warm)}`;
  const each = { url, model: `lines-${rounds}x${CALLS}`, count: rounds, loops: warm ? 10 : 1 };
  return { work, unit: 'ms CPU', goals: OVER_HTTP, warm, each };
}

function planText(url: string, warm: boolean): Plan {
  const work = `a streamed piece of text of ${PIECES}, ${nameOf(warm)}`;
  return { work, unit: 'µs CPU', goals: OVER_HTTP, warm, each: { url, model: `pieces-${PIECES}`, count: PIECES, loops: warm ? 5 : 1 } };
}

function nameOf(warm: boolean): string {
  return warm ? 'warm' : 'cold';
}

async function measurePlan(context: BenchContext, plan: Plan): Promise<Row> {
  context.progress(plan.work);
  const loops = takingPart(context, plan.each.url);
  const costs = plan.warm ? await measureWarm(context, loops, plan.each) : await measureCold(context, loops, plan.each);
  const scale = plan.unit === 'µs CPU' ? 1_000 : 1;
  return toLoopRow(plan, costs, ({ each }) => each * scale);
}

/** From memory the peers take no part: they have no port that could be fed. */
function takingPart({ peersFailure }: BenchContext, url: string | null): readonly LoopName[] {
  return url === null || peersFailure !== null ? ['ours', 'bare'] : ['ours', 'bare', 'AI SDK', 'LangGraph'];
}

async function measureCold({ options }: BenchContext, loops: readonly LoopName[], work: Plan['each']): Promise<Sides<LoopCost>> {
  return alternate(loops, options.runs, async (loop) => {
    const program = new MeasuredProgram('loop');
    const cost = await program.call<LoopCost>('measure', { ...work, loop });
    await program.close();
    return cost;
  });
}

async function measureWarm({ options }: BenchContext, loops: readonly LoopName[], work: Plan['each']): Promise<Sides<LoopCost>> {
  const programs = new Map(loops.map((loop) => [loop, new MeasuredProgram('loop')]));
  const measure = (loop: LoopName, times: number) => callOf(programs, loop).call<LoopCost>('measure', { ...work, loop, loops: times });
  const warmUp = warmUpOf(work) / (options.quick ? QUICK_SHARE : 1);
  for (const loop of loops) await measure(loop, Math.ceil(warmUp / work.count));
  const costs = await alternate(loops, options.runs, (loop) => measure(loop, work.loops));
  for (const program of programs.values()) await program.close();
  return costs;
}

function callOf(programs: ReadonlyMap<LoopName, MeasuredProgram>, loop: LoopName): MeasuredProgram {
  const program = programs.get(loop);
  if (!program) throw new Error(`${loop} does not take part`);
  return program;
}

function warmUpOf({ url, model }: Plan['each']): number {
  if (model.startsWith('pieces')) return WARM_UP.pieces;
  return WARM_UP[url === null ? 'memory' : 'http'];
}

/** 1,000 rounds over HTTP, in fresh processes: the mean round, the rounds at the end of a history of 1 MB, and how a round grows. */
async function measureLongLoop(context: BenchContext): Promise<readonly Row[]> {
  const plan = planRounds(1_000, context.modelUrl, false);
  context.progress(plan.work);
  const short = { ...context, options: { ...context.options, runs: Math.min(LONG_RUNS, context.options.runs) } };
  const costs = await measureCold(short, takingPart(context, context.modelUrl), plan.each);
  const growth = { work: 'rounds 900 to 1,000 ÷ rounds 40 to 140', unit: '×', goals: [] } as const;
  const last = { work: 'rounds 950 to 1,000 over HTTP, results of 1 KB', unit: 'ms CPU', goals: LATE_ROUND } as const;
  return [
    toLoopRow(plan, costs, ({ each }) => each),
    toLoopRow(last, costs, (cost) => cost.last),
    toLoopRow(growth, costs, (cost) => cost.late / cost.early),
  ];
}

function toLoopRow(plan: Pick<Plan, 'work' | 'unit' | 'goals'>, costs: Sides<LoopCost>, select: (cost: LoopCost) => number): Row {
  const { work, unit, goals } = plan;
  const peers: readonly ReferenceName[] = goals === FROM_MEMORY ? [] : ['AI SDK', 'LangGraph'];
  return toRow({ id: 'B1', work, unit, goals, against: ['bare', ...peers] }, costs, select);
}
