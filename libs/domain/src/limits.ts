/** All limits in one table (operations.md, Limits): used by validation, by the docs and by `doctor`. What is `fixed` is part of the contract. */
export const LIMITS = {
  prompt_bytes: { default: 262_144, unit: 'bytes', meaning: 'prompt or message' },
  question_bytes: { default: 8_192, unit: 'bytes', meaning: 'text of a question' },
  option_bytes: { default: 1_024, unit: 'bytes', meaning: 'label or description of an option' },
  plan_bytes: { default: 65_536, unit: 'bytes', meaning: 'plan of a task' },
  instructions_bytes: { default: 16_384, unit: 'bytes', meaning: 'instructions of a step of a workflow' },
  title_graphemes: { default: 60, unit: 'graphemes', meaning: 'title of a task or of its plan' },
  tool_arguments_bytes: { default: 1_048_576, unit: 'bytes', meaning: 'arguments of a tool call', fixed: true },
  tool_arguments_levels: { default: 64, unit: 'levels', meaning: 'nesting of a tool call’s arguments', fixed: true },
  tool_output_bytes: { default: 5_242_880, unit: 'bytes', meaning: 'stored output of a tool call', fixed: true },
  children_per_task: { default: 200, unit: 'tasks', meaning: 'direct children of a task' },
  depth: { default: 16, unit: 'levels', meaning: 'levels below a root task' },
  creates_per_tree_minute: { default: 60, unit: 'tasks', meaning: 'tasks created in one tree in a minute' },
  turns_per_tree: { default: 0, unit: 'turns', meaning: 'turns that all workers together run at once in one tree; 0 is unlimited' },
  queue_entries: { default: 10, unit: 'entries', meaning: 'ordinary entries in a session’s queue; 0 is unlimited' },
  long_poll_ms: { default: 25_000, unit: 'ms', meaning: 'longest hold of any MCP call', fixed: true },
} as const;
export type LimitName = keyof typeof LIMITS;
/** Effective limits: the defaults, overridden by configuration. */
export type Limits = Readonly<Record<LimitName, number>>;

export const DEFAULT_LIMITS: Limits = Object.fromEntries(Object.entries(LIMITS).map(([name, limit]) => [name, limit.default])) as Record<
  LimitName,
  number
>;
