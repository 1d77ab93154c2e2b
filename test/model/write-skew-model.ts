/**
 * Write skew (K20): a child asks while its parent is being archived. Each transaction reads what the other writes, so each is two moves,
 * read and commit. Both lock the parent's task row before they read: mutation `no-parent-lock`.
 */
import { answer, ask, enqueue, kill, makeStale, openedAbout } from './actions.js';
import { type Core, copyCore, createCore, keyOf, type Mutation, type Rules, WORKERS, type WorkerName } from './core.js';
import { type Exploration, explore, step } from './explore.js';
import { inTurn, jobSteps, type MaybeStep, mover, relaySteps, type Running, settleTurn, sweepSteps } from './shared-steps.js';
import { violations } from './violations.js';

export interface WriteSkewOptions {
  /** Whether a worker may die once, at any moment. */
  readonly canCrash: boolean;
  readonly mutations?: readonly Mutation[];
}

interface State extends Core {
  readonly canCrash: boolean;
  /** Who holds the lock on the parent's task row. */
  lock: WorkerName | 'archive' | null;
  /** What each worker has read of the parent for its ask. */
  reads: Readonly<Record<WorkerName, 'nothing' | 'live' | 'archived'>>;
  /** What the archiving transaction has read of the question, and whether it is done. */
  archive: 'waiting' | 'read_pending' | 'read_none' | 'done';
}

/** Explores asking against archiving; no violation is the expected result without mutations. */
export function exploreWriteSkew({ canCrash, mutations = [] }: WriteSkewOptions): Exploration {
  const rules: Rules = new Set(mutations);
  const initial: State = { ...createCore(), canCrash, lock: null, reads: { w1: 'nothing', w2: 'nothing' }, archive: 'waiting' };
  enqueue(initial, rules, 'child', 'prompt');
  return explore<State>({
    initial,
    key: (state) => keyOf(state, (order) => encode(state, order)),
    steps: (state) => {
      const move = mover(state);
      return [
        ...relaySteps(state, rules, move),
        ...sweepSteps(state, rules, move),
        ...workerSteps(state, rules),
        archiveStep(state, rules),
      ];
    },
    violations,
  });
}

function encode({ canCrash, lock, reads, archive }: State, order: readonly WorkerName[]): string {
  const holder = lock === 'w1' || lock === 'w2' ? order.indexOf(lock) : lock;
  return [canCrash, holder, archive, ...order.map((name) => reads[name])].join();
}

function workerSteps(state: State, rules: Rules): MaybeStep<State>[] {
  return WORKERS.filter((name) => state.workers[name].isAlive).flatMap((name) => [
    ...(jobSteps(state, rules, name, mover(state)) ?? turnSteps(state, rules, name)),
    state.canCrash && state.workers[name].at !== 'idle' ? crash(state, rules, name) : undefined,
  ]);
}

/** A dead worker's connection closes: its transaction is rolled back and its lock released. */
function crash(state: State, rules: Rules, name: WorkerName): MaybeStep<State> {
  const die = (next: State) => {
    kill(next, rules, name);
    endAsk(next, name);
  };
  return step(`${name} is killed`, { ...copyCore(state), canCrash: false }, die, { isOutside: true });
}

function turnSteps(state: State, rules: Rules, name: WorkerName): MaybeStep<State>[] {
  const move = mover(state);
  const act = (what: string, change: (next: State, running: Running) => boolean) =>
    move(`${name} ${what}`, (next) => inTurn(next, rules, name, (running) => change(next, running)));
  if (state.reads[name] !== 'nothing') return [move(`${name} commits its ask`, (next) => commitAsk(next, rules, name))];
  return [
    act('reads the parent', (next, running) => isAsking(running) && readParent(next, rules, name)),
    act('answers', (next, running) => isAnswering(running) && answerOnce(next, rules, running)),
    act('settles', (next, running) => !isAsking(running) && !isAnswering(running) && settleTurn(next, rules, running)),
  ];
}

const isAsking = ({ session, turn }: Running): boolean => session === 'child' && turn.kind === 'prompt' && turn.progress === 0;
const isAnswering = ({ session, turn }: Running): boolean => session === 'parent' && turn.kind === 'question' && turn.progress === 0;

function readParent(next: State, rules: Rules, name: WorkerName): boolean {
  if (!lockParent(next, rules, name)) return false;
  next.reads = { ...next.reads, [name]: next.archive === 'done' ? 'archived' : 'live' };
  return true;
}

/** The question of a live parent is written; that of an archived one is refused, and the agent goes on without. */
function commitAsk(next: State, rules: Rules, name: WorkerName): boolean {
  const mayAsk = next.reads[name] === 'live';
  endAsk(next, name);
  return inTurn(next, rules, name, ({ turn }) => {
    if (mayAsk) ask(next, rules, { session: 'child', turn });
    turn.progress = 1;
    return true;
  });
}

function endAsk(next: State, name: WorkerName): void {
  next.reads = { ...next.reads, [name]: 'nothing' };
  if (next.lock === name) next.lock = null;
}

/** An archived parent answers nobody. */
function answerOnce(next: State, rules: Rules, { session, turn }: Running): boolean {
  turn.progress = 1;
  const about = openedAbout(next, session, turn);
  if (about && next.archive !== 'done') answer(next, rules, about);
  return true;
}

function archiveStep(state: State, rules: Rules): MaybeStep<State> {
  if (state.archive === 'done') return undefined;
  if (state.archive !== 'waiting') return mover(state)('the parent is archived', (next) => commitArchive(next, rules));
  return step('archiving reads the question', copyCore(state), (next) => readQuestion(next, rules), { isOutside: true });
}

function readQuestion(next: State, rules: Rules): boolean {
  if (!lockParent(next, rules, 'archive')) return false;
  next.archive = next.questions.child?.status === 'pending' ? 'read_pending' : 'read_none';
  return true;
}

function commitArchive(next: State, rules: Rules): void {
  if (next.archive === 'read_pending') makeStale(next, rules, 'child');
  next.archive = 'done';
  if (next.lock === 'archive') next.lock = null;
}

/** False while another holds the lock. */
function lockParent(next: State, rules: Rules, owner: WorkerName | 'archive'): boolean {
  if (rules.has('no-parent-lock')) return true;
  if (next.lock !== null) return false;
  next.lock = owner;
  return true;
}
