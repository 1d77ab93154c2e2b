/** One line of the table: a figure of ours beside the reference's from the same run. */

export type Unit = 'ms' | 'ms CPU' | 'per s' | '×';

/** What must hold, and of which number: our figure divided by the reference's, or our figure alone. */
export interface Goal {
  readonly of: 'ratio' | 'figure';
  readonly bound: 'at most' | 'at least';
  readonly value: number;
}

export interface Row {
  /** Number in the list of goals, such as `B1`. */
  readonly id: string;
  readonly work: string;
  readonly unit: Unit;
  readonly ours: number;
  readonly reference: { readonly name: string; readonly figure: number };
  /** `null`: told for what it explains. */
  readonly goal: Goal | null;
}

export function ratioOf({ ours, reference }: Row): number {
  return ours / reference.figure;
}

/** Whether the goal is met; `null` where there is none. */
export function isMet(row: Row): boolean | null {
  if (row.goal === null) return null;
  const { of, bound, value } = row.goal;
  const reached = of === 'ratio' ? ratioOf(row) : row.ours;
  return bound === 'at most' ? reached <= value : reached >= value;
}

export function ratioAtMost(value: number): Goal {
  return { of: 'ratio', bound: 'at most', value };
}

export function ratioAtLeast(value: number): Goal {
  return { of: 'ratio', bound: 'at least', value };
}

export function figureAtMost(value: number): Goal {
  return { of: 'figure', bound: 'at most', value };
}
