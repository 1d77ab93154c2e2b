/** The moves of the relay, of a worker outside of turns, and of the sweep; they are the same in every model. */
import { claim, completeJob, currentTurn, freeLease, holdsLease, isRunnable, relay, settle, takeJob } from './actions.js';
import { type Core, copyCore, type Rules, type SessionName, type Turn, type Worker, type WorkerName } from './core.js';
import { type Step, step } from './explore.js';

export type MaybeStep<State> = Step<State> | undefined;
/** Makes a step from the present state of a model. */
export type Move<State> = (name: string, change: (next: State) => unknown) => MaybeStep<State>;

export function mover<State extends Core>(state: State): Move<State> {
  return (name, change) => step(name, copyCore(state), change);
}

/** A fault that has not struck yet, as a move of the outside world. */
export function strike<Fault, State extends Core & { readonly left: readonly Fault[] }>(
  state: State,
  fault: Fault,
  name: string,
  change: (next: State) => void,
): MaybeStep<State> {
  if (!state.left.includes(fault)) return undefined;
  return step(name, { ...copyCore(state), left: state.left.filter((other) => other !== fault) }, change, { isOutside: true });
}

export function relaySteps<State extends Core>(state: State, rules: Rules, move: Move<State>): MaybeStep<State>[] {
  return [...new Set(state.outbox)].map((name) => move(`the relay announces ${name}`, (next) => relay(next, rules, name)));
}

/** What a living worker does when it is not in a turn; undefined when it is in one. */
export function jobSteps<State extends Core>(
  state: State,
  rules: Rules,
  name: WorkerName,
  move: Move<State>,
): MaybeStep<State>[] | undefined {
  const { at, session } = state.workers[name];
  if (at === 'idle')
    return offeredSessions(state).map((offered) => move(`${name} takes the job of ${offered}`, (next) => takeJob(next, name, offered)));
  if (at === 'done' || session === null) return [move(`${name} completes its job`, (next) => completeJob(next, name))];
  if (at === 'claim') return [move(`${name} claims ${session}`, (next) => claim(next, rules, name, session))];
  return undefined;
}

const offeredSessions = ({ jobs }: Core): SessionName[] => [
  ...new Set(jobs.filter(({ worker }) => worker === null).map(({ session }) => session)),
];

/** A worker in its turn. */
export interface Running {
  readonly worker: Worker;
  readonly session: SessionName;
  readonly turn: Turn;
}

/** K4: lets the worker act in its turn; without its lease, or without a turn, it stops instead. False when the act is not possible. */
export function inTurn(core: Core, rules: Rules, name: WorkerName, act: (running: Running) => boolean): boolean {
  const worker = core.workers[name];
  const { session } = worker;
  const turn = session === null ? undefined : currentTurn(core, session);
  if (session !== null && turn && holdsLease(core, rules, worker)) return act({ worker, session, turn });
  worker.at = 'done';
  return true;
}

/** Settles the turn; a worker that drained no further entry is done. */
export function settleTurn(core: Core, rules: Rules, { worker, session, turn }: Running): boolean {
  settle(core, rules, session, turn);
  if (core.sessions[session].lease === null) worker.at = 'done';
  return true;
}

/** K10: void leases are freed and announced; runnable work that nobody holds and nothing announces is announced. */
export function sweepSteps<State extends Core>(state: State, rules: Rules, move: Move<State>): MaybeStep<State>[] {
  return state.names.map((name) => {
    const { lease } = state.sessions[name];
    if (lease !== null) {
      const isVoid = !state.workers[lease.worker].isAlive && !rules.has('no-sweep');
      return isVoid ? move(`the sweep frees ${name}`, (next) => freeLease(next, name)) : undefined;
    }
    if (!isRunnable(state, rules, name) || isAnnounced(state, name) || rules.has('no-rebuild')) return undefined;
    return move(`the sweep announces ${name}`, (next) => next.outbox.push(name));
  });
}

function isAnnounced({ outbox, jobs, workers }: Core, name: SessionName): boolean {
  const isWithLiving = ({ worker }: Core['jobs'][number]) => worker === null || workers[worker].isAlive;
  return outbox.includes(name) || jobs.some((job) => job.session === name && isWithLiving(job));
}
