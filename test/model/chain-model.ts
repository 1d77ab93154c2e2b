/**
 * A question that climbs a chain of levels and its answer that comes down again. Every agent that cannot decide asks its own parent;
 * `root` decides. One or two workers, the relay, the sweep, and the given faults.
 *
 * R6, R7  An answer names its question, not only the child: mutation `answer-by-session`.
 * R14  A hop's cause is the question of the entry that opened its turn: mutation `cause-by-newest`.
 * S3, S4  Archiving ends the questions that were asked of a task and its own: mutation `stale-on-one-side`.
 * S7  A parent that rests while a delivered question is pending is reminded once: mutation `no-reminder`.
 * S9  A question that is over takes its undelivered entry with it: mutation `entry-outlives-question`.
 */
import { answer, ask, enqueue, isGated, isPending, kill, makeStale, openedAbout, supersede } from './actions.js';
import {
  type Core,
  createCore,
  keyOf,
  type Mutation,
  type Parents,
  type QuestionId,
  type Rules,
  type SessionName,
  type Turn,
  WORKERS,
  type WorkerName,
} from './core.js';
import { type Exploration, explore } from './explore.js';
import { inTurn, jobSteps, type MaybeStep, mover, relaySteps, type Running, settleTurn, strike, sweepSteps } from './shared-steps.js';
import { violations } from './violations.js';

export const CHAIN_FAULTS = ['crash', 'operator_prompt', 'lead_archived'] as const;
export type ChainFault = (typeof CHAIN_FAULTS)[number];

export interface ChainOptions {
  /** Each may strike once. */
  readonly faults: readonly ChainFault[];
  readonly family: keyof typeof FAMILIES;
  readonly workers: 1 | 2;
  readonly mutations?: readonly Mutation[];
}

interface State extends Core {
  readonly left: readonly ChainFault[];
  /** Whose pending questions their parents have been reminded of. */
  reminded: readonly SessionName[];
}

/** Four levels below each other, or three with two children that ask at once. */
const FAMILIES = {
  chain: { child: 'parent', parent: 'lead', lead: 'root' },
  twins: { child: 'parent', sibling: 'parent', parent: 'root' },
} as const satisfies Record<string, Parents>;

/** Explores the chain; no violation is the expected result without mutations. */
export function exploreChain({ faults, family, workers, mutations = [] }: ChainOptions): Exploration {
  const rules: Rules = new Set(mutations);
  const parents: Parents = FAMILIES[family];
  const initial: State = { ...createCore(parents, [...(Object.keys(parents) as SessionName[]), 'root']), left: faults, reminded: [] };
  initial.workers.w2.isAlive = workers === 2;
  for (const leaf of initial.names.filter((name) => !Object.values(parents).includes(name))) enqueue(initial, rules, leaf, 'prompt');
  return explore<State>({
    initial,
    key: (state) => keyOf(state, `${state.left.join()}|${state.reminded.join()}`),
    steps: (state) => {
      const move = mover(state);
      return [
        ...relaySteps(state, rules, move),
        ...workerSteps(state, rules),
        ...sweepSteps(state, rules, move),
        ...outsideSteps(state, rules),
      ];
    },
    violations,
  });
}

function workerSteps(state: State, rules: Rules): MaybeStep<State>[] {
  return WORKERS.filter((name) => state.workers[name].isAlive).flatMap((name) => [
    ...(jobSteps(state, rules, name, mover(state)) ?? [turnStep(state, rules, name)]),
    state.workers[name].at === 'idle' ? undefined : strike(state, 'crash', `${name} is killed`, (next) => kill(next, rules, name)),
  ]);
}

/** An agent does the one thing of its turn, then its turn settles. */
function turnStep(state: State, rules: Rules, name: WorkerName): MaybeStep<State> {
  return mover(state)(`${name} goes on`, (next) =>
    inTurn(next, rules, name, (running) => {
      if (running.turn.progress === 0) return act(next, rules, running);
      settleTurn(next, rules, running);
      remind(next, rules, running.session);
      return true;
    }),
  );
}

/** What each kind of opening makes the agent do: ask its parent, answer the question that caused its own, or nothing. */
function act(next: State, rules: Rules, { session, turn }: Running): boolean {
  turn.progress = 1;
  if (turn.kind === 'prompt') ask(next, rules, { session, turn });
  if (turn.kind === 'question') askOrDecide(next, rules, session, turn);
  if (turn.kind === 'answer' || turn.kind === 'notice') decide(next, rules, next.questions[session]?.cause);
  if (turn.kind === 'reminder') decide(next, rules, openedAbout(next, session, turn));
  return true;
}

/** R14: a question that a task cannot decide goes one level up; the top, and a task that has lost its parent, decide. */
function askOrDecide(next: State, rules: Rules, session: SessionName, turn: Turn): void {
  const opened = openedAbout(next, session, turn);
  const parent = next.parents[session];
  if (parent === undefined || next.gone.includes(parent)) return decide(next, rules, opened);
  const cause = rules.has('cause-by-newest') ? newestAsked(next, session) : opened;
  if (cause !== opened) next.incident = 'a hop was recorded under another question';
  ask(next, rules, { session, turn, cause });
}

function decide(next: State, rules: Rules, question: QuestionId | null | undefined): void {
  if (question) answer(next, rules, question);
}

const newestAsked = (core: Core, session: SessionName): QuestionId | null =>
  core.sessions[session].queue.findLast(({ kind }) => kind === 'question')?.about ?? null;

/** S7 */
function remind(next: State, rules: Rules, session: SessionName): void {
  const { queue, lease } = next.sessions[session];
  if (lease !== null || isGated(next, session) || rules.has('no-reminder')) return;
  const forgotten = queue.find(
    ({ kind, about, turn }) =>
      kind === 'question' && about !== null && typeof turn === 'number' && isPending(next, about) && !next.reminded.includes(about.asker),
  )?.about;
  if (!forgotten) return;
  next.reminded = [...next.reminded, forgotten.asker].toSorted();
  enqueue(next, rules, session, { kind: 'reminder', about: forgotten });
}

/** The operator writes to a task that waits, and a task in the middle is archived while nobody holds it. */
function outsideSteps(state: State, rules: Rules): MaybeStep<State>[] {
  const { lease, turns } = state.sessions.lead;
  return [
    isGated(state, 'parent')
      ? strike(state, 'operator_prompt', 'the operator writes to parent', (next) => supersede(next, rules, 'parent'))
      : undefined,
    lease === null && turns.every(({ isOpen }) => !isOpen)
      ? strike(state, 'lead_archived', 'lead is archived', (next) => archiveLead(next, rules))
      : undefined,
  ];
}

function archiveLead(next: State, rules: Rules): void {
  for (const entry of next.sessions.lead.queue) entry.turn ??= 'cancelled';
  next.gone = ['lead'];
  makeStale(next, rules, 'parent');
  if (!rules.has('stale-on-one-side')) makeStale(next, rules, 'lead');
}
