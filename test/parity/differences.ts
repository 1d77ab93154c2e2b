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
  {
    surface: 'headless',
    scenarios: ['unfinished list of steps'],
    reason: 'The policy that goes on with an unfinished list of steps is the ACP agent’s (agent-loop.md §1).',
    absent: true,
  },
  {
    surface: 'acp',
    scenarios: ['said while a tool runs', 'structured output with sibling'],
    reason: 'The Agent Client Protocol has neither a message into a running prompt nor a result of a given shape.',
    absent: true,
  },
  {
    surface: 'acp',
    scenarios: ['retry after a model error', 'retry that fails again', 'killed while the model answers'],
    reason: 'The Agent Client Protocol goes on with a prompt only: it has no request to try the last turn again or to go on with it.',
    absent: true,
  },
  {
    surface: 'acp',
    scenarios: ['approval denied', 'several approvals in a batch'],
    reason: 'A declined call ends the prompt of an editor, and its unstarted siblings are cancelled (agent-loop.md §5).',
  },
  {
    surface: 'subagent',
    scenarios: [
      'two prompts in one session',
      'retry after a model error',
      'retry that fails again',
      'said while a tool runs',
      'killed while the model answers',
    ],
    reason: 'A subagent has one prompt and one result; nobody speaks with it, and one that was interrupted is an unknown call.',
    absent: true,
  },
  {
    surface: 'subagent',
    scenarios: ['stop hook blocks once', 'stop hook blocks to the cap', 'prompt blocked', 'prompt blocked after tools'],
    reason: 'Prompt submission and the stop point are hooks of the agent that called it; a subagent has the hooks of its tools.',
    absent: true,
  },
  {
    surface: 'subagent',
    scenarios: ['turn cap across two messages', 'structured output with sibling', 'unfinished list of steps'],
    reason: 'Caps of a session, results of a given shape and the list of steps are the agent’s that called it.',
    absent: true,
  },
  {
    surface: 'subagent',
    scenarios: ['thought only', 'white space', 'empty response after tools'],
    reason: 'A subagent that ends without a word is asked for its result, once.',
  },
  {
    surface: 'subagent',
    scenarios: ['output limit with text'],
    reason: 'An answer that was cut off and went on is one text for the agent that called.',
  },
];

export function findDifference(surface: string, scenario: string): Difference | null {
  return DIFFERENCES.find((known) => known.surface === surface && known.scenarios.includes(scenario)) ?? null;
}
