/** All error codes in one table: meaning, HTTP status, and what a model is told. Surfaces map a code here and nowhere else. */
import type { RefusalCode } from '@echelon/domain';
import { z } from 'zod';

export interface ErrorDefinition {
  readonly status: number;
  /** One sentence for people: problem+json `title`. */
  readonly title: string;
  /** What an agent should do about it. */
  readonly advice: string;
}

/** What is wrong with a request before any service sees it. */
type RequestCode =
  | 'HOST_NOT_ALLOWED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'ROUTE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'BODY_TOO_LARGE'
  | 'BODY_MALFORMED';

export const ERRORS: Readonly<Record<RefusalCode | RequestCode | 'INTERNAL', ErrorDefinition>> = {
  NOT_FOUND: { status: 404, title: 'No such object in your scope.', advice: 'Check the full id; list the objects you can see.' },
  INVALID_INPUT: { status: 400, title: 'The input does not match its schema.', advice: 'Correct the named fields and call again.' },
  UNAUTHENTICATED: { status: 401, title: 'A valid bearer token is required.', advice: 'Send a valid token.' },
  FORBIDDEN: { status: 403, title: 'This token may not do that.', advice: 'Do something else; this will not become allowed.' },
  CONFLICT: { status: 409, title: 'The object is not in a state that allows this.', advice: 'Read the object again before you decide.' },
  IDEMPOTENCY_MISMATCH: {
    status: 409,
    title: 'The idempotency key was used with another body.',
    advice: 'Use a new key for a new request.',
  },
  PROFILE_INCOMPATIBLE: {
    status: 422,
    title: 'The agent profile’s runtime cannot carry this task’s contract.',
    advice: 'Choose another agent profile.',
  },
  PROFILE_IN_USE: { status: 409, title: 'Autopilot tasks that have not ended use this profile.', advice: 'Create another profile.' },
  FIELD_IMMUTABLE: { status: 422, title: 'A field is fixed at creation.', advice: 'Create a new task; nothing of this call was applied.' },
  PARENT_NOT_USABLE: { status: 422, title: 'The parent task cannot take this child.', advice: 'Choose a live task that is not below it.' },
  DEPTH_EXCEEDED: { status: 422, title: 'The hierarchy would become too deep.', advice: 'Do the work here instead of delegating further.' },
  TOO_MANY_CHILDREN: { status: 422, title: 'The parent has as many children as it may have.', advice: 'Reuse or finish a child first.' },
  TOO_MANY_SESSIONS: {
    status: 422,
    title: 'The task has as many sessions as it may have.',
    advice: 'Message a session that it has, or wait until one ends.',
  },
  CREATE_RATE_EXCEEDED: {
    status: 429,
    title: 'Too many tasks of this tree, or sessions of this task, were started within a minute.',
    advice: 'Wait a minute, and start fewer.',
  },
  DEPENDENCY_IN_LINE: {
    status: 422,
    title: 'A task cannot wait for one above or below it.',
    advice: 'A task hears of the ends of its subtasks; let a sibling wait, or leave the dependency out.',
  },
  DEPENDENCY_CYCLE: { status: 422, title: 'Task dependencies cannot form a cycle.', advice: 'Remove one of the named edges.' },
  WORKFLOW_LOOP: {
    status: 422,
    title: 'The steps would move a task in a circle without end.',
    advice: 'Leave out the instructions of one step of the named path, or end the circle.',
  },
  WORKFLOW_STEP_IN_USE: {
    status: 409,
    title: 'Tasks that have not ended are in this step.',
    advice: 'Move them to another step first.',
  },
  TASK_TERMINAL: { status: 409, title: 'The task has ended.', advice: 'Create a new task.' },
  TASK_ARCHIVED: { status: 409, title: 'The task is archived.', advice: 'Choose a task that is not archived.' },
  TASK_STOPPING: { status: 409, title: 'The task’s subtree is being stopped.', advice: 'End your turn.' },
  STATE_CONFLICT: { status: 409, title: 'The task cannot make this transition.', advice: 'Read the task’s state first.' },
  WRONG_SESSION_KIND: { status: 422, title: 'This kind of session cannot do that.', advice: 'Proceed with best judgment.' },
  NOT_AUTOPILOT: {
    status: 422,
    title: 'Only an autopilot task asks its parent.',
    advice: 'Use the question tool that you were given, or proceed with best judgment.',
  },
  NO_PARENT: {
    status: 422,
    title: 'The task has no parent to ask.',
    advice: 'Decide yourself, and state material assumptions in your result.',
  },
  PARENT_UNAVAILABLE: {
    status: 409,
    title: 'The parent can no longer answer.',
    advice: 'Proceed with best judgment, and state material assumptions in your result.',
  },
  TURN_ENDED_BY_QUESTION: {
    status: 409,
    title: 'The turn ended with the question to the parent.',
    advice: 'End your turn now; the answer opens your next one.',
  },
  TOOL_NOT_OFFERED: { status: 403, title: 'This session does not have that tool.', advice: 'Use the tools that you were given.' },
  QUESTION_UNKNOWN: { status: 404, title: 'No such parent question.', advice: 'Check the question id.' },
  QUESTION_NOT_YOURS: {
    status: 403,
    title: 'Only the direct parent that was asked decides this question.',
    advice: 'Leave it to that task.',
  },
  QUESTION_TARGET_MISMATCH: {
    status: 422,
    title: 'The question belongs to another task or session.',
    advice: 'Copy task_id and session_id from the question.',
  },
  QUESTION_NOT_PENDING: { status: 409, title: 'The question is no longer open.', advice: 'No answer is needed any more.' },
  NOT_DIRECT_PARENT: { status: 403, title: 'Only the direct parent may do that.', advice: 'Send an ordinary message instead.' },
  SELF_MESSAGE: { status: 422, title: 'A session cannot message itself.', advice: 'Name another task, or another session of yours.' },
  SESSION_NOT_OF_TASK: {
    status: 422,
    title: 'The session does not belong to the task.',
    advice: 'List the task’s sessions with list_task_sessions_kandev.',
  },
  SESSION_TERMINAL: {
    status: 409,
    title: 'The task has no session that can take a message.',
    advice: 'Start one with spawn_session_kandev if you need it.',
  },
  NO_SESSION: { status: 409, title: 'The task has no session.', advice: 'Start one with spawn_session_kandev if you need it.' },
  QUEUE_FULL: { status: 429, title: 'The session’s queue is full.', advice: 'Send again after its next turn.' },
  ENTRY_NOT_QUEUED: { status: 409, title: 'The queue entry is no longer waiting.', advice: 'Nothing to do.' },
  TURN_NOT_ACTIVE: { status: 409, title: 'That turn is not the active one.', advice: 'Read the session’s current turn.' },
  TURN_STOPPING: { status: 409, title: 'The turn is being stopped.', advice: 'Send it as an ordinary message afterwards.' },
  TURN_FINISHING: { status: 409, title: 'The turn is finishing.', advice: 'Send it as an ordinary message afterwards.' },
  NO_SIGNAL_EXPECTED: { status: 409, title: 'The session has no running turn to complete.', advice: 'Nothing to do.' },
  LIMIT_EXCEEDED: { status: 422, title: 'A value is over its limit.', advice: 'Shorten the named field.' },
  RATE_LIMITED: { status: 429, title: 'Too many requests.', advice: 'Wait as long as Retry-After says.' },
  HOST_NOT_ALLOWED: {
    status: 403,
    title: 'The server is not known by that host name.',
    advice: 'Use the address that it listens on, or name the host in ECHELON_ALLOWED_HOSTS.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    title: 'Pages of that origin may not call this server.',
    advice: 'Call from a page of this server, or name the origin’s host in ECHELON_ALLOWED_HOSTS.',
  },
  ROUTE_NOT_FOUND: { status: 404, title: 'There is no such route.', advice: 'See /api/v1/reference.' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The route does not take this method.', advice: 'Use a method that Allow names.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The body is of a type or encoding that is not read here.',
    advice: 'Send it as application/json in UTF-8.',
  },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large.', advice: 'Send less at once.' },
  BODY_MALFORMED: { status: 400, title: 'The body is not a well-formed JSON object.', advice: 'Correct its syntax.' },
  SERVICE_UNAVAILABLE: { status: 503, title: 'The service cannot reach its database.', advice: 'Try again later.' },
  SHUTTING_DOWN: { status: 503, title: 'The service is shutting down.', advice: 'Try again later.' },
  INTERNAL: { status: 500, title: 'Something broke; it was logged.', advice: 'Try again once; then report it.' },
};
export type ErrorCode = keyof typeof ERRORS;

/** RFC 9457 problem details, with our stable code and the facts of the refusal. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string().optional(),
    errors: z.array(z.object({ path: z.string(), rule: z.string() })).optional(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())])).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;
