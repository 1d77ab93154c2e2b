/**
 * The wake-up, lease and question protocol: one parent, one child, two workers, the relay and the sweep. The child asks in its first
 * turn, the parent answers the question twice, and up to three faults strike at any moment. Every interleaving is explored.
 */
import { answer, ask, enqueue, freeLease, kill, makeStale, openedAbout, supersede } from './actions.js';
import { type Core, createCore, keyOf, type Mutation, type Rules, type SessionName, WORKERS, type WorkerName } from './core.js';
import { type Exploration, explore } from './explore.js';
import { inTurn, jobSteps, type MaybeStep, mover, relaySteps, type Running, settleTurn, strike, sweepSteps } from './shared-steps.js';
import { violations } from './violations.js';

export const FAULTS = ['crash', 'queue_lost', 'lease_expired', 'operator_prompt', 'parent_archived', 'sibling_message'] as const;
export type Fault = (typeof FAULTS)[number];

export interface ProtocolOptions {
  /** Each may strike once. */
  readonly faults: readonly Fault[];
  /** The rules that are switched off. */
  readonly mutations?: readonly Mutation[];
}

interface State extends Core {
  readonly left: readonly Fault[];
}

/** Explores the protocol; no violation is the expected result without mutations. */
export function exploreProtocol({ faults, mutations = [] }: ProtocolOptions): Exploration {
  const rules: Rules = new Set(mutations);
  const initial: State = { ...createCore(), left: faults };
  enqueue(initial, rules, 'child', 'prompt');
  return explore<State>({
    initial,
    key: (state) => keyOf(state, state.left.join()),
    steps: (state) => {
      const move = mover(state);
      return [
        ...relaySteps(state, rules, move),
        ...workerSteps(state, rules),
        ...sweepSteps(state, rules, move),
        ...faultSteps(state, rules),
      ];
    },
    violations,
  });
}

function workerSteps(state: State, rules: Rules): MaybeStep<State>[] {
  return WORKERS.filter((name) => state.workers[name].isAlive).flatMap((name) => [
    ...(jobSteps(state, rules, name, mover(state)) ?? turnSteps(state, rules, name)),
    state.workers[name].at === 'idle' ? undefined : strike(state, 'crash', `${name} is killed`, (next) => kill(next, rules, name)),
  ]);
}

function turnSteps(state: State, rules: Rules, name: WorkerName): MaybeStep<State>[] {
  const move = mover(state);
  return [
    move(`${name} works`, (next) => inTurn(next, rules, name, (running) => work(next, rules, running))),
    move(`${name} settles`, (next) => inTurn(next, rules, name, (running) => isScriptDone(running) && settleTurn(next, rules, running))),
  ];
}

/** The agents' script: the child asks in its first turn, call first and result later; the parent answers a question, twice. */
function work(next: State, rules: Rules, running: Running): boolean {
  const { worker, session, turn } = running;
  if (worker.hasCalled) {
    worker.hasCalled = false;
    turn.progress = 1;
    return true;
  }
  if (isAsking(running) && turn.progress === 0) {
    worker.hasCalled = true;
    ask(next, rules, { session: 'child', turn });
    return true;
  }
  if (!isAnswering(running) || isScriptDone(running)) return false;
  turn.progress += 1;
  const about = openedAbout(next, session, turn);
  if (about) answer(next, rules, about);
  return true;
}

const isAsking = ({ session, turn }: Running): boolean => session === 'child' && turn.kind === 'prompt';
const isAnswering = ({ session, turn }: Running): boolean => session === 'parent' && turn.kind === 'question';

function isScriptDone(running: Running): boolean {
  if (isAsking(running)) return running.turn.progress >= 1;
  return !isAnswering(running) || running.turn.progress >= 2;
}

function faultSteps(state: State, rules: Rules): MaybeStep<State>[] {
  return [...expirySteps(state), loseQueue(state), ...(state.questions.child === undefined ? [] : outsideSteps(state, rules))];
}

function expirySteps(state: State): MaybeStep<State>[] {
  const isHeldByLiving = (name: SessionName) => {
    const { lease } = state.sessions[name];
    return lease !== null && state.workers[lease.worker].isAlive;
  };
  return state.names
    .filter(isHeldByLiving)
    .map((name) => strike(state, 'lease_expired', `the lease of ${name} expires under a stalled worker`, (next) => freeLease(next, name)));
}

function loseQueue(state: State): MaybeStep<State> {
  if (state.jobs.length === 0) return undefined;
  return strike(state, 'queue_lost', 'the queue loses everything', (next) => {
    next.jobs = next.jobs.filter(({ worker }) => worker !== null && next.workers[worker].isAlive);
  });
}

/** What people and peers do once there is a question. */
function outsideSteps(state: State, rules: Rules): MaybeStep<State>[] {
  return [
    strike(state, 'operator_prompt', 'the operator writes to the child', (next) => supersede(next, rules, 'child')),
    strike(state, 'sibling_message', 'a sibling writes to the child', (next) => enqueue(next, rules, 'child', 'peer')),
    state.questions.child?.status === 'pending'
      ? strike(state, 'parent_archived', 'the parent is archived', (next) => makeStale(next, rules, 'child'))
      : undefined,
  ];
}
