/**
 * The shape of the forest (K20): tasks that are moved, created, ended and stopped in cascades at once. Each transaction takes its locks and
 * reads in one move and commits in another; whatever needs none of its locks may happen in between.
 *
 * K20a  Structure changes take one lock per workspace: mutation `no-structure-lock`.
 * K20b  A cascade marks top-down, level by level, and nothing is created below or moved under a mark: `create-ignores-mark`,
 *       `move-ignores-mark`.
 * K20c  Create, end and move lock the rows of the parents whose counters they change: mutation `no-parent-lock`.
 * K20d  The counter that reaches zero tells the parent, once per set: mutation `zero-untold`.
 */
import type { Mutation, Rules } from './core.js';
import { type Exploration, explore, type Step, step } from './explore.js';

interface Task {
  parent: string | null;
  state: 'live' | 'stopping' | 'ended';
  openChildren: number;
  /** How many sets of children its parent was told to be complete, and how many there were. */
  toldSets: number;
  sets: number;
}

type Tasks = Readonly<Record<string, Task>>;

/** What runs beside the others: locks and reads, then commits; a cascade does so once per level. */
interface Transaction {
  readonly name: string;
  locks(tasks: Tasks, rules: Rules): readonly string[];
  /** What it has read, as text; `null`: it has nothing more to do. */
  read(tasks: Tasks, rules: Rules): string | null;
  commit(tasks: Record<string, Task>, read: string, rules: Rules): void;
  readonly repeats?: boolean;
}

interface State {
  readonly tasks: Tasks;
  readonly running: readonly { readonly phase: 'waiting' | 'open' | 'done'; readonly read: string; readonly locks: readonly string[] }[];
}

const STRUCTURE = 'structure';

/** Explores transactions beside each other on a forest; no violation is the expected result without mutations. */
export function exploreStructure(scenario: keyof typeof SCENARIOS, mutations: readonly Mutation[] = []): Exploration {
  const rules: Rules = new Set(mutations);
  const { forest, transactions } = SCENARIOS[scenario];
  return explore<State>({
    initial: { tasks: plant(forest), running: transactions.map(() => ({ phase: 'waiting', read: '', locks: [] })) },
    key: (state) => JSON.stringify(state),
    steps: (state) => transactions.map((transaction, at) => advance(state, transaction, at, rules)),
    violations: (state, isQuiet) => wrongOf(state.tasks, isQuiet),
  });
}

function plant(forest: Readonly<Record<string, string | null>>): Tasks {
  const children = (name: string) => Object.values(forest).filter((parent) => parent === name).length;
  return Object.fromEntries(
    Object.entries(forest).map(([name, parent]) => [
      name,
      { parent, state: 'live', openChildren: children(name), toldSets: 0, sets: Math.min(1, children(name)) },
    ]),
  );
}

function advance(state: State, transaction: Transaction, at: number, rules: Rules): Step<State> | undefined {
  const mine = state.running[at];
  if (!mine || mine.phase === 'done') return undefined;
  return mine.phase === 'waiting' ? begin(state, transaction, at, rules) : commit(state, transaction, at, rules);
}

function begin(state: State, transaction: Transaction, at: number, rules: Rules): Step<State> | undefined {
  const locks = transaction.locks(state.tasks, rules);
  if (state.running.some((other) => other.phase === 'open' && other.locks.some((lock) => locks.includes(lock)))) return undefined;
  const read = transaction.read(state.tasks, rules);
  const next = read === null ? ({ phase: 'done', read: '', locks: [] } as const) : ({ phase: 'open', read, locks } as const);
  return step(`${transaction.name} reads`, { ...state, running: state.running.with(at, next) }, () => true);
}

function commit(state: State, transaction: Transaction, at: number, rules: Rules): Step<State> {
  const tasks = Object.fromEntries(Object.entries(state.tasks).map(([name, task]) => [name, { ...task }]));
  transaction.commit(tasks, state.running[at]?.read ?? '', rules);
  const phase = transaction.repeats ? 'waiting' : 'done';
  return {
    name: `${transaction.name} commits`,
    isOutside: false,
    next: { tasks, running: state.running.with(at, { phase, read: '', locks: [] }) },
  };
}

function wrongOf(tasks: Tasks, isQuiet: boolean): readonly string[] {
  const wrong = Object.entries(tasks).flatMap(([name, task]) => {
    const live = Object.values(tasks).filter(({ parent, state }) => parent === name && state !== 'ended').length;
    return [
      ancestorsOf(tasks, name).includes(name) && `${name} is its own ancestor`,
      task.openChildren !== live && `${name} counts ${String(task.openChildren)} open children and has ${String(live)}`,
      task.toldSets > task.sets && `${name} was told twice of one set`,
      isQuiet && live === 0 && task.state === 'live' && task.toldSets !== task.sets && `${name} was not told that its children are done`,
      isQuiet && task.state === 'live' && tasks[task.parent ?? '']?.state === 'ended' && `${name} lives below a stopped task`,
    ];
  });
  return wrong.filter((fact) => typeof fact === 'string');
}

/** Its ancestors, nearest first, as far as they do not repeat. */
function ancestorsOf(tasks: Tasks, name: string): readonly string[] {
  const found: string[] = [];
  for (let at = tasks[name]?.parent ?? null; at !== null && !found.includes(at); at = tasks[at]?.parent ?? null) found.push(at);
  return found;
}

function take(tasks: Record<string, Task>, name: string): Task {
  const task = tasks[name];
  if (!task) throw new Error(`no task ${name}`);
  return task;
}

/** One child more: the first one begins a new set. */
function countIn(parent: Task, openChildren: number): void {
  if (openChildren === 0) parent.sets += 1;
  parent.openChildren = openChildren + 1;
}

/** One child less: with the last one the parent is told. */
function countOut(parent: Task, openChildren: number, rules: Rules): void {
  parent.openChildren = openChildren - 1;
  if (parent.openChildren === 0 && !rules.has('zero-untold')) parent.toldSets += 1;
}

const rowsOf = (rules: Rules, ...names: readonly (string | null | undefined)[]): string[] =>
  rules.has('no-parent-lock') ? [] : names.filter((name) => typeof name === 'string');

/** Creates `name` below `parent`, unless that is marked. */
function create(name: string, parent: string): Transaction {
  return {
    name: `creating ${name} below ${parent}`,
    locks: (_, rules) => rowsOf(rules, parent),
    read: (tasks) => `${tasks[parent]?.state ?? ''} ${String(tasks[parent]?.openChildren ?? 0)}`,
    commit: (tasks, read, rules) => {
      const [state, count] = read.split(' ');
      if (state !== 'live' && !rules.has('create-ignores-mark')) return;
      tasks[name] = { parent, state: 'live', openChildren: 0, toldSets: 0, sets: 0 };
      countIn(take(tasks, parent), Number(count));
    },
  };
}

/** Ends `name` and counts it out of its parent. */
function end(name: string): Transaction {
  return {
    name: `ending ${name}`,
    locks: (tasks, rules) => [name, ...rowsOf(rules, tasks[name]?.parent)],
    read: (tasks) => (tasks[name]?.state === 'ended' ? null : String(tasks[tasks[name]?.parent ?? '']?.openChildren ?? 0)),
    commit: (tasks, read, rules) => {
      const { parent } = take(tasks, name);
      take(tasks, name).state = 'ended';
      if (parent !== null) countOut(take(tasks, parent), Number(read), rules);
    },
  };
}

/** Moves `name` below `to`, unless that makes a cycle or `to` is marked. */
function move(name: string, to: string): Transaction {
  return {
    name: `moving ${name} below ${to}`,
    locks: (tasks, rules) => [...(rules.has('no-structure-lock') ? [] : [STRUCTURE]), ...rowsOf(rules, name, to, tasks[name]?.parent)],
    read: (tasks, rules) => {
      const isMarked = tasks[to]?.state !== 'live' || tasks[name]?.state !== 'live';
      if ([to, ...ancestorsOf(tasks, to)].includes(name) || (isMarked && !rules.has('move-ignores-mark'))) return null;
      return `${String(tasks[to]?.openChildren ?? 0)} ${String(tasks[tasks[name]?.parent ?? '']?.openChildren ?? 0)}`;
    },
    commit: (tasks, read, rules) => {
      const [into, outOf] = read.split(' ').map(Number);
      const { parent } = take(tasks, name);
      take(tasks, name).parent = to;
      countIn(take(tasks, to), into ?? 0);
      if (parent !== null) countOut(take(tasks, parent), outOf ?? 0, rules);
    },
  };
}

/** Stops `root` and all below: marks level by level, and ends from the leaves when nothing unmarked is left. */
function stop(root: string): Transaction {
  const below = (tasks: Tasks) => Object.keys(tasks).filter((name) => name === root || ancestorsOf(tasks, name).includes(root));
  const nextBatch = (tasks: Tasks) => {
    const isMarked = (name: string | null) => tasks[name ?? '']?.state === 'stopping';
    const toMark = below(tasks).filter((name) => tasks[name]?.state === 'live' && (name === root || isMarked(tasks[name]?.parent ?? null)));
    return toMark.length > 0
      ? toMark
      : below(tasks)
          .filter((name) => isMarked(name) && tasks[name]?.openChildren === 0)
          .slice(0, 1);
  };
  return {
    name: `stopping ${root}`,
    locks: (tasks, rules) => nextBatch(tasks).flatMap((name) => [name, ...rowsOf(rules, tasks[name]?.parent)]),
    read: (tasks) => (nextBatch(tasks).length === 0 ? null : nextBatch(tasks).join()),
    commit: (tasks, read, rules) => {
      for (const name of read.split(',')) advanceStop(tasks, name, rules);
    },
    repeats: true,
  };
}

function advanceStop(tasks: Record<string, Task>, name: string, rules: Rules): void {
  const task = take(tasks, name);
  if (task.state === 'live') task.state = 'stopping';
  else {
    task.state = 'ended';
    const parent = tasks[task.parent ?? ''];
    if (parent) countOut(parent, parent.openChildren, rules);
  }
}

const SCENARIOS = {
  /** Two tasks that are moved below each other. */
  opposite_moves: { forest: { a: null, b: null }, transactions: [move('a', 'b'), move('b', 'a')] },
  /** The last children of a task end while another one is created and one is moved away. */
  last_children: {
    forest: { top: null, one: 'top', two: 'top', aside: null },
    transactions: [end('one'), end('two'), create('three', 'top'), move('two', 'aside')],
  },
  /** A cascade, while tasks are created below and moved under what it stops. */
  cascade: {
    forest: { root: null, mid: 'root', leaf: 'mid', free: null },
    transactions: [stop('root'), create('new', 'mid'), create('newer', 'leaf'), move('free', 'leaf')],
  },
} as const satisfies Record<
  string,
  { readonly forest: Readonly<Record<string, string | null>>; readonly transactions: readonly Transaction[] }
>;
