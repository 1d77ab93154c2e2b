/** One move of a model: a committed transaction, a queue operation or a fault. */
export interface Step<State> {
  readonly name: string;
  /** A fault or a move of the outside world, on which nothing may depend: where only these are left, the system is quiet. */
  readonly isOutside: boolean;
  readonly next: State;
}

export interface Model<State> {
  readonly initial: State;
  /** What can happen next; undefined where something cannot. */
  steps(state: State): readonly (Step<State> | undefined)[];
  /** Equal for states that differ only in what does not matter. */
  key(state: State): string;
  /** What is wrong with the state; some facts must hold only where the system is quiet. */
  violations(state: State, isQuiet: boolean): readonly string[];
}

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  readonly quietStates: number;
  /** The shortest way to the first wrong state; null when there is none. */
  readonly violation: Violation | null;
}

export interface Violation {
  readonly facts: readonly string[];
  readonly trace: readonly string[];
}

interface Origin {
  readonly from: string | null;
  readonly step: string;
}

/** Visits every state that some interleaving reaches, nearest first, and stops at the first wrong one. */
export function explore<State>(model: Model<State>): Exploration {
  const start = { state: model.initial, key: model.key(model.initial) };
  const origins = new Map<string, Origin>([[start.key, { from: null, step: '' }]]);
  const waiting = [start];
  let transitions = 0;
  let quietStates = 0;
  for (const { state, key } of waiting) {
    let isQuiet = true;
    for (const found of model.steps(state)) {
      if (found === undefined) continue;
      const { name, isOutside, next } = found;
      transitions += 1;
      isQuiet &&= isOutside;
      const nextKey = model.key(next);
      if (origins.has(nextKey)) continue;
      origins.set(nextKey, { from: key, step: name });
      waiting.push({ state: next, key: nextKey });
    }
    if (isQuiet) quietStates += 1;
    const facts = model.violations(state, isQuiet);
    if (facts.length > 0) return { states: origins.size, transitions, quietStates, violation: { facts, trace: traceTo(key, origins) } };
  }
  return { states: origins.size, transitions, quietStates, violation: null };
}

function traceTo(key: string, origins: ReadonlyMap<string, Origin>): readonly string[] {
  const trace: string[] = [];
  for (let origin = origins.get(key); origin !== undefined && origin.from !== null; origin = origins.get(origin.from))
    trace.unshift(origin.step);
  return trace;
}

/** The step that `change` makes of a copy of the state; undefined when it says `false`: not possible here. */
export function step<State>(
  name: string,
  next: State,
  change: (next: State) => unknown,
  { isOutside = false } = {},
): Step<State> | undefined {
  return change(next) === false ? undefined : { name, isOutside, next };
}
