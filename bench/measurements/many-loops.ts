/** B8: a thousand turns in one process: how fast they go, how long the event loop stands still, what one that waits for its model takes. */
import { alternate, mapSides, type Sides } from '../alternate.js';
import type { BenchContext } from '../context.js';
import { deploymentEnv } from '../deployment.js';
import { MeasuredProgram } from '../measured-program.js';
import type { LoopName } from '../programs/loop-runners.js';
import type { Crowd, CrowdSpeed } from '../programs/many-loops.js';
import { HELD } from '../programs/script-words.js';
import { atLeast, atMost, type Goal, type ReferenceName, type Row, type Unit } from '../row.js';
import { toRow } from '../to-row.js';

/** A run of a thousand takes long: each side gets few. */
const RUNS = 2;
const HEAP_KB = 60;

interface Size {
  readonly loops: number;
  readonly rounds: number;
}

interface Figures extends CrowdSpeed {
  readonly heapKb: number;
}

interface Kind {
  readonly name: string;
  readonly durable: boolean;
  readonly sides: readonly LoopName[];
  readonly speed: readonly Goal[];
  readonly stall: readonly Goal[];
}

const IN_MEMORY: Kind = {
  name: 'loops',
  durable: false,
  sides: ['ours', 'bare', 'AI SDK', 'LangGraph'],
  speed: [atLeast(1, 'AI SDK'), atLeast(1, 'LangGraph')],
  stall: [atMost(0.3, 'AI SDK')],
};
/** Without a goal for what stands still: the AI SDK stores nothing. */
const DURABLE: Kind = {
  name: 'durable turns',
  durable: true,
  sides: ['ours', 'bare', 'LangGraph'],
  speed: [atLeast(1, 'LangGraph')],
  stall: [],
};

export async function measureManyLoops(context: BenchContext): Promise<readonly Row[]> {
  const { quick } = context.options;
  const size: Size = quick ? { loops: 200, rounds: 3 } : { loops: 1_000, rounds: 10 };
  const rows = await measureKind(context, IN_MEMORY, size);
  return quick ? rows : [...rows, ...(await measureKind(context, DURABLE, size))];
}

async function measureKind(context: BenchContext, kind: Kind, { loops, rounds }: Size): Promise<readonly Row[]> {
  const sides = kind.sides.filter((side) => context.peersFailure === null || side === 'ours' || side === 'bare');
  const programs = new Map<LoopName, MeasuredProgram>();
  try {
    for (const side of sides) programs.set(side, new MeasuredProgram('many-loops', kind.durable ? await deploymentEnv(context) : {}));
    const ask = <Result>(method: string, side: LoopName, work: object = {}) => {
      const crowd: Crowd = { loop: side, durable: kind.durable, url: context.modelUrl, loops };
      return programOf(programs, side).call<Result>(method, { ...crowd, ...work });
    };
    const run = (side: LoopName, toEnd: number) => {
      context.progress(`${loops} ${kind.name}: ${side}`);
      return ask<CrowdSpeed>('run', side, { rounds: toEnd });
    };
    await alternate(sides, 1, (side) => run(side, 1));
    const speeds = await alternate(sides, Math.min(RUNS, context.options.runs), (side) => run(side, rounds));
    const heaps = await alternate(sides, 1, (side) => measureHeap(context, loops, (method, work) => ask(method, side, work)));
    const figures = mapSides((side) => speeds[side].map((speed) => ({ ...speed, heapKb: heaps[side][0] ?? NaN })));
    return toRows(kind, loops, figures);
  } finally {
    for (const program of programs.values()) await program.close();
  }
}

function programOf(programs: ReadonlyMap<LoopName, MeasuredProgram>, side: LoopName): MeasuredProgram {
  const program = programs.get(side);
  if (!program) throw new Error(`${side} does not take part`);
  return program;
}

/** What each loop takes while its model has not answered. */
async function measureHeap(
  { model }: BenchContext,
  count: number,
  ask: <Result>(method: string, work?: object) => Promise<Result>,
): Promise<number> {
  await ask('prepare');
  const before = await ask<number>('heapKb');
  await ask('startWaiting', { model: HELD });
  await model.call('waitForHeld', { count });
  const after = await ask<number>('heapKb');
  await model.call('release');
  await ask('finish');
  return (after - before) / count;
}

function toRows({ name, durable, speed, stall }: Kind, loops: number, figures: Sides<Figures>): readonly Row[] {
  const against: readonly ReferenceName[] = durable ? ['bare', 'LangGraph'] : ['bare', 'AI SDK', 'LangGraph'];
  const row = (work: string, unit: Unit, goals: readonly Goal[]) => ({ id: 'B8', work: `${loops} ${name}: ${work}`, unit, goals, against });
  return [
    toRow(row('rounds', 'per s', speed), figures, ({ roundsPerSecond }) => roundsPerSecond),
    toRow(row('longest stall of the event loop', 'ms', stall), figures, ({ longestStallMs }) => longestStallMs),
    toRow(row('heap of one that waits', 'KB', [atMost(HEAP_KB)]), figures, ({ heapKb }) => heapKb),
  ];
}
