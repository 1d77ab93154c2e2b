/** B11: a tree of tasks whose agents relay questions up and answers down; then what its lists cost. */
import type { TreeSize } from '../../test/scale/question-tree.js';
import type { BenchContext } from '../context.js';
import type { RestCost } from '../contestant.js';
import { Deployment } from '../deployment.js';
import type { TreeWork } from '../programs/platform-tree.js';
import { atMost, type Goal, type Row, type Unit } from '../row.js';

const FULL: TreeSize = { tasks: 10_000, levels: 12, questions: 5_000 };
const QUICK: TreeSize = { tasks: 500, levels: 12, questions: 200 };
const REST_MS = 1_000;
const PAGE_MS = 50;

export async function measureQuestionTree(context: BenchContext): Promise<readonly Row[]> {
  const { quick } = context.options;
  const size = quick ? QUICK : FULL;
  context.progress('starting');
  const deployment = await Deployment.open(context, 'platform');
  try {
    await deployment.call('createFamilies', { parents: 8, children: 8 });
    const { answers, ms } = await deployment.call('answerAll', { times: quick ? 1 : 4 });
    return toRows(size, await measureTree(context, deployment, size), answers / ms);
  } finally {
    await deployment.close();
  }
}

interface Figures {
  readonly levels: number;
  readonly ms: number;
  readonly faults: readonly string[];
  readonly heapKb: { readonly before: number; readonly after: number };
  readonly pages: Awaited<ReturnType<TreeWork['readPages']>>;
}

async function measureTree({ options, progress }: BenchContext, deployment: Deployment, size: TreeSize): Promise<Figures> {
  progress(`a tree of ${size.tasks} tasks grows`);
  const { levels } = await deployment.call('growTree', size);
  const before = await deployment.call('restCost', { ms: REST_MS });
  progress(`${size.questions} questions climb`);
  const { ms, faults } = await deployment.call('climbTree', {});
  const after: RestCost = await deployment.call('restCost', { ms: REST_MS });
  for (const fault of faults.slice(0, 10)) progress(fault);
  progress('pages');
  const pages = await deployment.call('readPages', { samples: options.quick ? 20 : 100 });
  return { levels, ms, faults, heapKb: { before: before.heapKb, after: after.heapKb }, pages };
}

function toRows({ tasks, questions }: TreeSize, { levels, ms, faults, heapKb, pages }: Figures, answersPerMs: number): readonly Row[] {
  const row = (work: string, unit: Unit, ours: number, goals: readonly Goal[] = []): Row => ({
    ...{ id: 'B11', work, unit, ours, goals },
    references: {},
  });
  return [
    row(`${questions} questions in ${tasks} tasks of ${levels} levels: not answered exactly once`, 'count', faults.length, [atMost(0)]),
    row('relayed up and answered down', 'per s', (questions / ms) * 1_000),
    row('time ÷ (questions ÷ rate of B3)', '×', ms / (questions / answersPerMs), [atMost(1.5)]),
    row('heap afterwards ÷ before', '×', heapKb.after / heapKb.before, [atMost(1.1)]),
    ...pages.map(({ page, ms: p95 }) => row(`page: ${page}, p95`, 'ms', p95, [atMost(PAGE_MS)])),
  ];
}
