/** Where a surface differs, with the reason: on purpose, or because something is missing there. A difference that is listed and not seen fails as much as one that is not listed. */

export interface Difference {
  readonly surface: string;
  readonly scenarios: readonly string[];
  readonly reason: string;
  /** The surface has no such thing, so there is nothing to run. */
  readonly absent?: true;
  /** It is to have it, and has not yet. */
  readonly missing?: true;
}

const DIFFERENCES: readonly Difference[] = [
  {
    surface: 'worker',
    scenarios: ['said while a tool runs'],
    reason: 'Queue entries never join a turn on the worker (agent-loop.md §2).',
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
    missing: true,
  },
  {
    surface: 'worker',
    scenarios: ['retry after a model error', 'retry that fails again'],
    reason: 'A failed turn of a task cannot be asked for anew yet; the next message opens a turn of its own.',
    absent: true,
    missing: true,
  },
  {
    surface: 'headless',
    scenarios: ['unfinished list of steps'],
    reason: 'The policy that goes on with an unfinished list of steps is the ACP agent’s (agent-loop.md §1).',
    absent: true,
  },
  {
    surface: 'acp',
    scenarios: ['unfinished list of steps'],
    reason: 'The tool and the policy of the list of steps are the ACP agent’s; the bare loop has neither (agent-loop.md §1).',
  },
  {
    surface: 'acp',
    scenarios: ['structured output with sibling'],
    reason: 'The Agent Client Protocol has no result of a given shape.',
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
    surface: 'terminal',
    scenarios: ['structured output with sibling', 'unfinished list of steps'],
    reason: 'A result of a given shape is for programs, and the policy of the list of steps is the ACP agent’s (agent-loop.md §1).',
    absent: true,
  },
  {
    surface: 'terminal',
    scenarios: ['killed while the model answers'],
    reason: 'A chat’s session is the same as a headless run’s, whose process is killed there; /resume goes on with it.',
    absent: true,
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
  {
    surface: 'speculation',
    scenarios: [
      'output limit with calls',
      'output limit behind tool_calls',
      'cut-off edit',
      'malformed format twice',
      'empty response after tools',
      'thought only',
      'white space',
      'model error',
      'replay twice',
      'loop of identical calls',
    ],
    reason: 'A run ahead that comes to no good end is thrown away, and the prompt is run anew when it is said.',
  },
  {
    surface: 'speculation',
    scenarios: ['compaction in mid-run'],
    reason: 'Nothing is compacted ahead of its time: a run ahead that fills the window is thrown away.',
  },
  {
    surface: 'speculation',
    scenarios: ['launch budget, parallel edge', 'launch budget, sequential edge', 'launch budget, refused before launch'],
    reason: 'A run ahead that has spent its budget goes on with a budget of its own when its prompt is said.',
  },
  {
    surface: 'speculation',
    scenarios: [
      'stop hook blocks once',
      'stop hook blocks to the cap',
      'prompt blocked',
      'prompt blocked after tools',
      'hooks around a tool',
      'cancel between stream end and batch',
    ],
    reason: 'Nothing is run ahead in a session with hooks, for they would be seen (docs/speculation.md).',
    absent: true,
  },
  {
    surface: 'speculation',
    scenarios: [
      'two prompts in one session',
      'retry after a model error',
      'retry that fails again',
      'cancel during stream',
      'cancel during a tool',
      'said while a tool runs',
      'killed while the model answers',
      'turn cap across two messages',
      'structured output with sibling',
      'unfinished list of steps',
    ],
    reason: 'A run ahead is one prompt that nobody has said yet: nobody cancels it, speaks into it or tries it again.',
    absent: true,
  },
];

export function findDifference(surface: string, scenario: string): Difference | null {
  return DIFFERENCES.find((known) => known.surface === surface && known.scenarios.includes(scenario)) ?? null;
}
