/**
 * The wake-up, lease and question protocol: one parent, one child, two workers, the relay and the sweep. The child asks in its first
 * turn, the parent answers the question twice, and up to three faults strike at any moment. Every interleaving is explored.
 */
import {
  answer,
  ask,
  claim,
  completeJob,
  currentTurn,
  enqueue,
  freeLease,
  holdsLease,
  isRunnable,
  kill,
  makeStale,
  relay,
  settle,
  takeJob,
} from './actions.js';
import {
  type Core,
  copyCore,
  createCore,
  keyOf,
  type Mutation,
  type Rules,
  SESSIONS,
  type SessionName,
  type Turn,
  WORKERS,
  type WorkerName,
} from './core.js';
import { type Exploration, explore, type Step, step } from './explore.js';
import { alwaysWrong, wrongWhenQuiet } from './violations.js';

export const FAULTS = ['crash', 'queue_lost', 'lease_expired', 'operator_prompt', 'parent_archived', 'sibling_message'] as const;
export type Fault = (typeof FAULTS)[number];

export interface ProtocolOptions {
  /** Each may strike once. */
  readonly faults: readonly Fault[];
  /** The rules that are switched off. */
  readonly mutations?: readonly Mutation[];
}

interface State extends Core {
  readonly left: Readonly<Record<Fault, boolean>>;
}

type MaybeStep = Step<State> | undefined;
type Change = (next: State) => unknown;

/** Explores the protocol; no violation is the expected result without mutations. */
export function exploreProtocol({ faults, mutations = [] }: ProtocolOptions): Exploration {
  const rules: Rules = new Set(mutations);
  const left = Object.fromEntries(FAULTS.map((fault) => [fault, faults.includes(fault)])) as Record<Fault, boolean>;
  const initial: State = { ...createCore(), left };
  enqueue(initial, rules, 'child', 'prompt');
  return explore<State>({
    initial,
    key: (state) => keyOf(state, FAULTS.filter((fault) => state.left[fault]).join()),
    violations: findViolations,
    *steps(state) {
      for (const found of [
        ...relaySteps(state, rules),
        ...workerSteps(state, rules),
        ...sweepSteps(state, rules),
        ...faultSteps(state, rules),
      ]) {
        if (found) yield found;
      }
    },
  });
}

const copy = (state: State): State => ({ ...copyCore(state), left: { ...state.left } });
const move = (state: State, name: string, change: Change): MaybeStep => step(name, copy(state), change);
const strike = (state: State, fault: Fault, name: string, change: Change): MaybeStep =>
  state.left[fault] ? step(name, { ...copy(state), left: { ...state.left, [fault]: false } }, change, true) : undefined;

function relaySteps(state: State, rules: Rules): MaybeStep[] {
  return [...new Set(state.outbox)].map((name) => move(state, `the relay announces ${name}`, (next) => relay(next, rules, name)));
}

function workerSteps(state: State, rules: Rules): MaybeStep[] {
  return WORKERS.filter((name) => state.workers[name].isAlive).flatMap((name) => [
    ...stepsOfWorker(state, rules, name),
    state.workers[name].at === 'idle' ? undefined : strike(state, 'crash', `${name} is killed`, (next) => kill(next, rules, name)),
  ]);
}

function stepsOfWorker(state: State, rules: Rules, name: WorkerName): MaybeStep[] {
  const { at, session } = state.workers[name];
  if (at === 'idle') return takeSteps(state, name);
  if (at === 'done' || session === null) return [move(state, `${name} completes its job`, (next) => completeJob(next, name))];
  if (at === 'claim') return [move(state, `${name} claims ${session}`, (next) => claim(next, rules, name, session))];
  return [
    move(state, `${name} works in ${session}`, (next) =>
      inTurn(next, rules, name, session, (turn) => work(next, rules, name, session, turn)),
    ),
    move(state, `${name} settles ${session}`, (next) =>
      inTurn(next, rules, name, session, (turn) => finish(next, rules, name, session, turn)),
    ),
  ];
}

function takeSteps(state: State, name: WorkerName): MaybeStep[] {
  const offered = new Set(state.jobs.filter(({ worker }) => worker === null).map(({ session }) => session));
  return [...offered].map((session) => move(state, `${name} takes the job of ${session}`, (next) => takeJob(next, name, session)));
}

/** K4: without its lease, or without a turn, a worker stops. */
function inTurn(next: State, rules: Rules, name: WorkerName, session: SessionName, act: (turn: Turn) => boolean): boolean {
  const turn = currentTurn(next, session);
  if (holdsLease(next, rules, next.workers[name]) && turn) return act(turn);
  next.workers[name].at = 'done';
  return true;
}

/** The agents' script: the child asks in its first turn, call first and result later; the parent answers a question, twice. */
function work(next: State, rules: Rules, name: WorkerName, session: SessionName, turn: Turn): boolean {
  const worker = next.workers[name];
  if (worker.hasCalled) {
    worker.hasCalled = false;
    turn.progress = 1;
    return true;
  }
  if (isAskingTurn(session, turn) && turn.progress === 0) {
    worker.hasCalled = true;
    ask(next, rules, turn);
    return true;
  }
  if (!isAnsweringTurn(session, turn) || turn.progress === 2) return false;
  turn.progress += 1;
  answer(next, rules);
  return true;
}

function finish(next: State, rules: Rules, name: WorkerName, session: SessionName, turn: Turn): boolean {
  if (isAskingTurn(session, turn) && turn.progress < 1) return false;
  if (isAnsweringTurn(session, turn) && turn.progress < 2) return false;
  settle(next, rules, session, turn);
  if (next.sessions[session].lease === null) next.workers[name].at = 'done';
  return true;
}

const isAskingTurn = (session: SessionName, turn: Turn): boolean => session === 'child' && turn.kind === 'prompt';
const isAnsweringTurn = (session: SessionName, turn: Turn): boolean => session === 'parent' && turn.kind === 'question';

/** K10: void leases are freed and announced; runnable work that nobody holds and nothing announces is announced. */
function sweepSteps(state: State, rules: Rules): MaybeStep[] {
  return SESSIONS.map((name) => {
    const { lease } = state.sessions[name];
    if (lease !== null) {
      const isVoid = !state.workers[lease.worker].isAlive && !rules.has('no-sweep');
      return isVoid ? move(state, `the sweep frees ${name}`, (next) => freeLease(next, name)) : undefined;
    }
    if (!isRunnable(state, rules, name) || isAnnounced(state, name) || rules.has('no-rebuild')) return undefined;
    return move(state, `the sweep announces ${name}`, (next) => next.outbox.push(name));
  });
}

function isAnnounced({ outbox, jobs, workers }: Core, name: SessionName): boolean {
  const isWithLiving = ({ worker }: Core['jobs'][number]) => worker === null || workers[worker].isAlive;
  return outbox.includes(name) || jobs.some((job) => job.session === name && isWithLiving(job));
}

function faultSteps(state: State, rules: Rules): MaybeStep[] {
  return [...expirySteps(state), loseQueue(state), ...(state.question === null ? [] : outsideSteps(state, rules))];
}

function expirySteps(state: State): MaybeStep[] {
  const isHeldByLiving = (name: SessionName) => {
    const { lease } = state.sessions[name];
    return lease !== null && state.workers[lease.worker].isAlive;
  };
  return SESSIONS.filter(isHeldByLiving).map((name) =>
    strike(state, 'lease_expired', `the lease of ${name} expires under a stalled worker`, (next) => freeLease(next, name)),
  );
}

function loseQueue(state: State): MaybeStep {
  if (state.jobs.length === 0) return undefined;
  return strike(state, 'queue_lost', 'the queue loses everything', (next) => {
    next.jobs = next.jobs.filter(({ worker }) => worker !== null && next.workers[worker].isAlive);
  });
}

/** What people and peers do once there is a question. */
function outsideSteps(state: State, rules: Rules): MaybeStep[] {
  return [
    strike(state, 'operator_prompt', 'the operator writes to the child', (next) => {
      if (next.question?.status === 'pending') next.question.status = 'superseded';
      enqueue(next, rules, 'child', 'message');
    }),
    strike(state, 'sibling_message', 'a sibling writes to the child', (next) => enqueue(next, rules, 'child', 'peer')),
    state.question?.status === 'pending'
      ? strike(state, 'parent_archived', 'the parent is archived', (next) => makeStale(next, rules))
      : undefined,
  ];
}

function findViolations(state: State, isQuiet: boolean): readonly string[] {
  const areWorkersIdle = WORKERS.every((name) => !state.workers[name].isAlive || state.workers[name].at === 'idle');
  return [...alwaysWrong(state), ...(isQuiet && areWorkersIdle ? wrongWhenQuiet(state) : [])];
}
