/** One line of the table: a figure of ours beside the references' from the same run. */

export type Unit = 'ms' | 'ms CPU' | 'µs CPU' | 'ms CPU/s' | 'per s' | 'KB' | 'MB' | '×' | 'count';

/** `bare`: the least that the same work takes, by a program of ours. */
export const REFERENCES = ['bare', 'DBOS', 'AI SDK', 'LangGraph'] as const;
export type ReferenceName = (typeof REFERENCES)[number];

/** What must hold, and of which number: our figure alone, or divided by a reference's. */
export interface Goal {
  readonly of: 'figure' | ReferenceName;
  readonly bound: 'at most' | 'at least';
  readonly value: number;
}

export interface Row {
  /** Number in the list of goals, such as `B1`. */
  readonly id: string;
  readonly work: string;
  readonly unit: Unit;
  readonly ours: number;
  /** `null`: it takes part, and is not installed. */
  readonly references: Readonly<Partial<Record<ReferenceName, number | null>>>;
  /** Without any, it is told for what it explains. */
  readonly goals: readonly Goal[];
}

/** Our figure divided by the reference's; `null` where there is none to divide by. */
export function ratioOf({ ours, references }: Row, name: ReferenceName): number | null {
  const figure = references[name];
  return figure ? ours / figure : null;
}

/** Whether all goals are met; `null` where there are none, or those that can be judged are met and others cannot. */
export function isMet(row: Row): boolean | null {
  if (row.goals.length === 0) return null;
  const met = row.goals.map((goal) => isReached(row, goal));
  if (met.includes(false)) return false;
  return met.includes(null) ? null : true;
}

function isReached(row: Row, { of, bound, value }: Goal): boolean | null {
  const reached = of === 'figure' ? row.ours : ratioOf(row, of);
  if (reached === null) return null;
  return bound === 'at most' ? reached <= value : reached >= value;
}

export function atMost(value: number, of: Goal['of'] = 'figure'): Goal {
  return { of, bound: 'at most', value };
}

export function atLeast(value: number, of: Goal['of'] = 'figure'): Goal {
  return { of, bound: 'at least', value };
}
