/** Every way in which an expected request is refused. Meaning, HTTP status and MCP text of a code stand in one table of `contracts`. */
export type RefusalCode =
  | 'NOT_FOUND'
  | 'INVALID_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'CONFLICT'
  | 'IDEMPOTENCY_MISMATCH'
  | 'PROFILE_INCOMPATIBLE'
  | 'PROFILE_IN_USE'
  | 'FIELD_IMMUTABLE'
  | 'PARENT_NOT_USABLE'
  | 'DEPTH_EXCEEDED'
  | 'TOO_MANY_CHILDREN'
  | 'TOO_MANY_SESSIONS'
  | 'CREATE_RATE_EXCEEDED'
  | 'DEPENDENCY_CYCLE'
  | 'DEPENDENCY_IN_LINE'
  | 'WORKFLOW_LOOP'
  | 'WORKFLOW_STEP_IN_USE'
  | 'TASK_TERMINAL'
  | 'TASK_ARCHIVED'
  | 'TASK_STOPPING'
  | 'STATE_CONFLICT'
  | 'WRONG_SESSION_KIND'
  | 'NOT_AUTOPILOT'
  | 'NO_PARENT'
  | 'PARENT_UNAVAILABLE'
  | 'TURN_ENDED_BY_QUESTION'
  | 'TOOL_NOT_OFFERED'
  | 'QUESTION_UNKNOWN'
  | 'QUESTION_NOT_YOURS'
  | 'QUESTION_TARGET_MISMATCH'
  | 'QUESTION_NOT_PENDING'
  | 'NOT_DIRECT_PARENT'
  | 'SELF_MESSAGE'
  | 'SESSION_NOT_OF_TASK'
  | 'SESSION_TERMINAL'
  | 'NO_SESSION'
  | 'QUEUE_FULL'
  | 'ENTRY_NOT_QUEUED'
  | 'TURN_NOT_ACTIVE'
  | 'TURN_STOPPING'
  | 'TURN_FINISHING'
  | 'NO_SIGNAL_EXPECTED'
  | 'LIMIT_EXCEEDED'
  | 'RATE_LIMITED'
  | 'SERVICE_UNAVAILABLE'
  | 'SHUTTING_DOWN';

/** An expected no: a value, never an exception inside the domain. `details` holds facts that the caller may see. */
export interface Refusal {
  readonly refused: true;
  readonly code: RefusalCode;
  readonly details: Readonly<Record<string, string | number | boolean | null | string[]>>;
}

/** Refuses with a code and the facts that explain it. */
export function refuse(code: RefusalCode, details: Refusal['details'] = {}): Refusal {
  return { refused: true, code, details };
}

/** Tells a refusal from any other outcome. */
export function isRefusal(outcome: object): outcome is Refusal {
  return 'refused' in outcome;
}
