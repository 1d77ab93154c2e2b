import type { RefusalCode } from './refusal.js';

interface Limit {
  readonly default: number;
  readonly unit: string;
  readonly meaning: string;
  /** How a value over the limit is refused; `null` where it is cut, shortened or made to wait instead, and the meaning says which. */
  readonly code: RefusalCode | 'BODY_TOO_LARGE' | null;
  /** Part of the contract: no configuration changes it. */
  readonly fixed?: true;
}

/** All limits in one table (operations.md, Limits): used by validation, by the docs and by `doctor`. */
export const LIMITS = {
  prompt_bytes: { default: 262_144, unit: 'bytes', meaning: 'prompt or message', code: 'LIMIT_EXCEEDED' },
  question_bytes: { default: 8_192, unit: 'bytes', meaning: 'text of a question', code: 'LIMIT_EXCEEDED' },
  option_bytes: { default: 1_024, unit: 'bytes', meaning: 'label or description of an option', code: 'LIMIT_EXCEEDED' },
  questions_per_ask: { default: 4, unit: 'questions', meaning: 'questions of one ask', code: 'INVALID_INPUT', fixed: true },
  options_per_question: { default: 6, unit: 'options', meaning: 'choices that a question offers', code: 'INVALID_INPUT', fixed: true },
  plan_bytes: { default: 65_536, unit: 'bytes', meaning: 'plan of a task', code: 'LIMIT_EXCEEDED' },
  instructions_bytes: { default: 16_384, unit: 'bytes', meaning: 'instructions of a step of a workflow', code: 'LIMIT_EXCEEDED' },
  title_graphemes: { default: 60, unit: 'graphemes', meaning: 'title of a task or of its plan', code: 'LIMIT_EXCEEDED' },
  name_characters: {
    default: 120,
    unit: 'characters',
    meaning: 'name of a workspace, profile or workflow, label of a token',
    code: 'INVALID_INPUT',
    fixed: true,
  },
  step_name_characters: {
    default: 60,
    unit: 'characters',
    meaning: 'name of a step of a workflow',
    code: 'INVALID_INPUT',
    fixed: true,
  },
  steps_per_workflow: { default: 20, unit: 'steps', meaning: 'steps of a workflow', code: 'INVALID_INPUT', fixed: true },
  whole_number: {
    default: 2_147_483_647,
    unit: 'units',
    meaning: 'any other whole number that a client sends, such as seconds, tokens and revisions',
    code: 'INVALID_INPUT',
    fixed: true,
  },
  key_characters: { default: 512, unit: 'characters', meaning: 'idempotency key', code: 'INVALID_INPUT', fixed: true },
  page_items: { default: 200, unit: 'items', meaning: 'items of a page that a client asks for', code: 'INVALID_INPUT', fixed: true },
  request_body_bytes: { default: 2_097_152, unit: 'bytes', meaning: 'body of an HTTP request', code: 'BODY_TOO_LARGE', fixed: true },
  requests_per_token_minute: {
    default: 6_000,
    unit: 'requests',
    meaning: 'HTTP requests of one token in a minute; 0 is unlimited',
    code: 'RATE_LIMITED',
  },
  tool_arguments_bytes: { default: 1_048_576, unit: 'bytes', meaning: 'arguments of a tool call', code: 'LIMIT_EXCEEDED', fixed: true },
  tool_arguments_levels: {
    default: 64,
    unit: 'levels',
    meaning: 'nesting of a tool call’s arguments',
    code: 'LIMIT_EXCEEDED',
    fixed: true,
  },
  tool_output_bytes: {
    default: 5_242_880,
    unit: 'bytes',
    meaning: 'stored output of a tool call; the middle of a longer one is left out, and the result says so',
    code: null,
    fixed: true,
  },
  children_per_task: { default: 200, unit: 'tasks', meaning: 'direct children of a task', code: 'TOO_MANY_CHILDREN' },
  depth: { default: 16, unit: 'levels', meaning: 'levels below a root task', code: 'DEPTH_EXCEEDED' },
  subagent_depth: {
    default: 2,
    unit: 'levels',
    meaning: 'levels of subagents below an agent, 0 for none; a call at the last finds no such tool, and its result says so',
    code: null,
  },
  creates_per_tree_minute: { default: 60, unit: 'tasks', meaning: 'tasks created in one tree in a minute', code: 'CREATE_RATE_EXCEEDED' },
  blockers_per_task: {
    default: 50,
    unit: 'tasks',
    meaning: 'tasks that one task waits for; of a longer list at creation, INVALID_INPUT',
    code: 'LIMIT_EXCEEDED',
    fixed: true,
  },
  sessions_per_task: { default: 50, unit: 'sessions', meaning: 'sessions of a task that have not ended', code: 'TOO_MANY_SESSIONS' },
  spawns_per_task_minute: {
    default: 20,
    unit: 'sessions',
    meaning: 'sessions started of one task in a minute',
    code: 'CREATE_RATE_EXCEEDED',
  },
  turns_per_tree: {
    default: 0,
    unit: 'turns',
    meaning: 'turns that all workers together run at once in one tree, others wait; 0 is unlimited',
    code: null,
  },
  queue_entries: { default: 10, unit: 'entries', meaning: 'ordinary entries in a session’s queue; 0 is unlimited', code: 'QUEUE_FULL' },
  long_poll_ms: {
    default: 25_000,
    unit: 'ms',
    meaning: 'longest hold of any MCP call, whose result then says so',
    code: null,
    fixed: true,
  },
  mcp_subscriptions: {
    default: 1_024,
    unit: 'streams',
    meaning: 'MCP streams of one era on which a server tells of changed tools; the answer to more says so',
    code: null,
    fixed: true,
  },
} as const satisfies Readonly<Record<string, Limit>>;
export type LimitName = keyof typeof LIMITS;
/** Effective limits: the defaults, overridden by configuration. */
export type Limits = Readonly<Record<LimitName, number>>;

export const DEFAULT_LIMITS: Limits = Object.fromEntries(Object.entries(LIMITS).map(([name, limit]) => [name, limit.default])) as Record<
  LimitName,
  number
>;
