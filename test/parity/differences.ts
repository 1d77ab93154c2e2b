/** Where a surface differs on purpose, with the reason. A difference that is listed and not seen fails as much as one that is not listed. */

export interface Difference {
  readonly surface: string;
  readonly scenarios: readonly string[];
  readonly reason: string;
  /** The surface has no such thing, so there is nothing to run. */
  readonly absent?: true;
}

export const DIFFERENCES: readonly Difference[] = [
  {
    surface: 'worker',
    scenarios: ['said while a tool runs'],
    reason: 'Queue entries never join a turn on the worker (agent-loop.md §2); only a Lead does.',
    absent: true,
  },
  {
    surface: 'worker',
    scenarios: ['turn cap across two messages'],
    reason: 'A task’s session has no turn cap; its profile bounds rounds, launches, time and tokens of a turn.',
    absent: true,
  },
  {
    surface: 'worker',
    scenarios: ['unfinished list of steps', 'structured output with sibling'],
    reason: 'A worker’s agent keeps its plan in the task and gives its result with step_complete_kandev.',
    absent: true,
  },
  {
    surface: 'worker',
    scenarios: ['killed while the model answers'],
    reason: 'Run with real processes and Postgres by test/story/kill.deep.ts and test/crash, before and after every statement.',
    absent: true,
  },
  {
    surface: 'worker',
    scenarios: ['approval denied', 'several approvals in a batch', 'a plan changes nothing'],
    reason: 'A profile’s permission policy does not reach the worker’s turns yet: what its tools may do is bounded by folder and sandbox.',
    absent: true,
  },
  {
    surface: 'worker',
    scenarios: ['retry after a model error', 'retry that fails again'],
    reason: 'A failed turn of a task is not asked for anew; the next message opens a turn of its own.',
    absent: true,
  },
];

export function findDifference(surface: string, scenario: string): Difference | null {
  return DIFFERENCES.find((known) => known.surface === surface && known.scenarios.includes(scenario)) ?? null;
}
