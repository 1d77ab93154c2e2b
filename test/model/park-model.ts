/**
 * Parking (K13): a turn that waits for two decisions, one of a person and one of a time-out, leaves its worker while they are made.
 * A transaction is two moves, read and commit, and holds the session's lock between them; whatever needs no lock may happen there.
 *
 * P1  Parking reads its waits again under the lock and goes on when all are decided: mutation `park-blind`.
 * P2  A decider takes the lock before it looks whether somebody holds the session: mutation `decide-without-lock`.
 * P3  A parked turn goes on when all its waits are decided, not before: mutation `resume-on-first-decision`.
 */
import { currentTurn, enqueue, kill } from './actions.js';
import { type Core, copyCore, createCore, keyOf, type Mutation, type Rules, type Turn, WORKERS, type WorkerName } from './core.js';
import { type Exploration, explore, step } from './explore.js';
import { inTurn, jobSteps, type MaybeStep, type Move, mover, relaySteps, type Running, settleTurn, sweepSteps } from './shared-steps.js';
import { violations } from './violations.js';

export interface ParkOptions {
  /** Whether a worker may die once, at any moment. */
  readonly canCrash: boolean;
  readonly mutations?: readonly Mutation[];
}

/** The turn's first wait is the person's, its second the time-out's. */
const DECIDERS = ['person', 'time-out'] as const;
type Decider = (typeof DECIDERS)[number];

interface State extends Core {
  readonly canCrash: boolean;
  /** Who is between read and commit. */
  lock: Decider | WorkerName | null;
  /** What each decider knows of the session. */
  deciders: Readonly<Record<Decider, 'waiting' | 'read_held' | 'read_free' | 'done'>>;
  /** What a worker that is about to park has read of its turn's waits. */
  reads: Readonly<Record<WorkerName, 'nothing' | 'all_decided' | 'some_pending'>>;
}

/** Explores parking; no violation is the expected result without mutations. */
export function exploreParking({ canCrash, mutations = [] }: ParkOptions): Exploration {
  const rules: Rules = new Set(mutations);
  const initial: State = {
    ...createCore(),
    canCrash,
    lock: null,
    deciders: { person: 'waiting', 'time-out': 'waiting' },
    reads: { w1: 'nothing', w2: 'nothing' },
  };
  enqueue(initial, rules, 'child', 'prompt');
  return explore<State>({
    initial,
    key: (state) => keyOf(state, (order) => encode(state, order)),
    steps: (state) => {
      const move = mover(state);
      const whenUnlocked = state.lock === null ? sweepSteps(state, rules, move) : [];
      return [...relaySteps(state, rules, move), ...whenUnlocked, ...workerSteps(state, rules), ...deciderSteps(state, rules)];
    },
    violations,
  });
}

function encode({ canCrash, lock, deciders, reads }: State, order: readonly WorkerName[]): string {
  const holder = lock === 'w1' || lock === 'w2' ? order.indexOf(lock) : lock;
  return [canCrash, holder, ...DECIDERS.map((name) => deciders[name]), ...order.map((name) => reads[name])].join();
}

function workerSteps(state: State, rules: Rules): MaybeStep<State>[] {
  return WORKERS.filter((name) => state.workers[name].isAlive).flatMap((name) => [
    ...(jobSteps(state, rules, name, whileUnlocked(state, name)) ?? turnSteps(state, rules, name)),
    state.canCrash && state.workers[name].at !== 'idle' ? crash(state, rules, name) : undefined,
  ]);
}

/** Only claims need the lock, but a worker that waits for it can as well be late with the rest. */
function whileUnlocked(state: State, name: WorkerName): Move<State> {
  const isFree = state.lock === null || state.workers[name].at !== 'claim';
  return isFree ? mover(state) : () => undefined;
}

/** A dead worker's connection closes: its transaction is rolled back and its lock released. */
function crash(state: State, rules: Rules, name: WorkerName): MaybeStep<State> {
  const next = { ...copyCore(state), canCrash: false };
  const die = () => {
    kill(next, rules, name);
    next.reads = { ...next.reads, [name]: 'nothing' };
    if (next.lock === name) next.lock = null;
  };
  return step(`${name} is killed`, next, die, { isOutside: true });
}

function turnSteps(state: State, rules: Rules, name: WorkerName): MaybeStep<State>[] {
  const move = mover(state);
  if (state.lock === name) return [move(`${name} commits its parking`, (next) => commitParking(next, rules, name))];
  const turn = currentTurn(state, 'child');
  const isFree = state.lock === null;
  return [
    isFree && turn?.progress === 0
      ? move(`${name} asks for two decisions`, (next) => inTurn(next, rules, name, askForDecisions))
      : undefined,
    turn?.progress === 1 && state.reads[name] === 'nothing' ? move(`${name} looks at its waits`, (next) => look(next, name)) : undefined,
    isFree && state.reads[name] === 'all_decided' ? move(`${name} goes on and settles`, (next) => goOn(next, rules, name)) : undefined,
    isFree && state.reads[name] === 'some_pending' ? move(`${name} begins to park`, (next) => beginParking(next, rules, name)) : undefined,
  ];
}

function askForDecisions({ turn }: Running): boolean {
  turn.waits = ['pending', 'pending'];
  turn.progress = 1;
  return true;
}

function look(next: State, name: WorkerName): void {
  const turn = currentTurn(next, 'child');
  next.reads = { ...next.reads, [name]: turn && isDecided(turn) ? 'all_decided' : 'some_pending' };
}

const isDecided = ({ waits }: Turn): boolean => waits.every((wait) => wait === 'decided');

function goOn(next: State, rules: Rules, name: WorkerName): boolean {
  next.reads = { ...next.reads, [name]: 'nothing' };
  return inTurn(next, rules, name, (running) => settleTurn(next, rules, running));
}

/** P1 */
function beginParking(next: State, rules: Rules, name: WorkerName): boolean {
  return inTurn(next, rules, name, () => {
    next.lock = name;
    if (!rules.has('park-blind')) look(next, name);
    return true;
  });
}

function commitParking(next: State, rules: Rules, name: WorkerName): boolean {
  const mustPark = next.reads[name] === 'some_pending';
  next.lock = null;
  next.reads = { ...next.reads, [name]: 'nothing' };
  return inTurn(next, rules, name, ({ worker, session, turn }) => {
    if (!mustPark) return true;
    turn.isParked = true;
    next.sessions[session].lease = null;
    worker.at = 'done';
    return true;
  });
}

function deciderSteps(state: State, rules: Rules): MaybeStep<State>[] {
  const isAsked = currentTurn(state, 'child')?.progress === 1;
  return DECIDERS.map((decider) => {
    const phase = state.deciders[decider];
    if (phase === 'done' || !isAsked) return undefined;
    if (phase !== 'waiting') return mover(state)(`the ${decider} decides`, (next) => commitDecision(next, rules, decider));
    const isFree = state.lock === null || rules.has('decide-without-lock');
    return isFree ? mover(state)(`the ${decider} reads the session`, (next) => readSession(next, rules, decider)) : undefined;
  });
}

/** P2 */
function readSession(next: State, rules: Rules, decider: Decider): void {
  if (!rules.has('decide-without-lock')) next.lock = decider;
  next.deciders = { ...next.deciders, [decider]: next.sessions.child.lease === null ? 'read_free' : 'read_held' };
}

/** K1: a decision announces the session that nobody holds; a live holder finds it when it parks. */
function commitDecision(next: State, rules: Rules, decider: Decider): void {
  const turn = currentTurn(next, 'child');
  if (turn) turn.waits = turn.waits.map((wait, index) => (index === DECIDERS.indexOf(decider) ? 'decided' : wait));
  if (next.deciders[decider] === 'read_free' && !rules.has('no-outbox')) next.outbox.push('child');
  if (next.lock === decider) next.lock = null;
  next.deciders = { ...next.deciders, [decider]: 'done' };
}
