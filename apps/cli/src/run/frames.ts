/**
 * The frames of `echelon run`: one JSON object per line, in both directions (docs/headless.md). Fields may be added; a field that
 * changes its meaning raises `PROTOCOL_VERSION`.
 *
 * F1  The first frame of a session is `system` `init`, the last of a run is its only `result`.
 * F2  Every `tool_use` that is told has exactly one `tool_result`, in the order of the calls, at the end of its batch.
 */
import { z } from 'zod';
import { PermissionModeName } from '../local/settings-file.js';

export const PROTOCOL_VERSION = 1;

const Count = z.int().min(0);
const JsonObject = z.record(z.string(), z.unknown());

const TextBlock = z.strictObject({ type: z.literal('text'), text: z.string() });
const ThinkingBlock = z.strictObject({ type: z.literal('thinking'), thinking: z.string() });
/** `input` is what the model wrote: an object, or its text where that is no JSON. */
const ToolUseBlock = z.strictObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() });
const ToolResultBlock = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  tool_name: z.string(),
  status: z.enum(['succeeded', 'failed', 'invalid', 'denied', 'superseded', 'duplicate', 'replay', 'not_executed', 'cancelled', 'unknown']),
  is_error: z.boolean(),
  /** As the model reads it. */
  content: z.string(),
});

const AssistantFrame = z.strictObject({
  type: z.literal('assistant'),
  session_id: z.string(),
  message: z.strictObject({
    role: z.literal('assistant'),
    /** Blocks of one type. */
    content: z.union([z.array(TextBlock).min(1), z.array(ThinkingBlock).min(1), z.array(ToolUseBlock).min(1)]),
  }),
  /** Its stream broke off or was cancelled; no model sees it again. */
  incomplete: z.literal(true).optional(),
});

/** What the model is told: a prompt, a message that joined the turn, what the host says in a user's place, or results. */
const UserFrame = z.strictObject({
  type: z.literal('user'),
  session_id: z.string(),
  message: z.strictObject({
    role: z.literal('user'),
    content: z.union([z.array(TextBlock).min(1), z.array(ToolResultBlock).min(1)]),
  }),
});

/** Only with `--include-partial-messages`; `attempt_abandoned` voids all text and thinking since the last other frame. */
const StreamEventFrame = z.strictObject({
  type: z.literal('stream_event'),
  event: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('text_delta'), text: z.string() }),
    z.strictObject({ type: z.literal('thinking_delta'), thinking: z.string() }),
    z.strictObject({ type: z.literal('attempt_abandoned') }),
    z.strictObject({ type: z.literal('tool_started'), tool_use_id: z.string(), tool_name: z.string() }),
    z.strictObject({ type: z.literal('tool_output'), tool_use_id: z.string(), text: z.string() }),
  ]),
});

const system = <Subtype extends string, Shape extends z.ZodRawShape>(subtype: Subtype, shape: Shape) =>
  z.strictObject({ type: z.literal('system'), subtype: z.literal(subtype), ...shape });

const SystemFrame = z.discriminatedUnion('subtype', [
  system('init', {
    protocol_version: z.literal(PROTOCOL_VERSION),
    session_id: z.string(),
    /** `SCRIPTED (…)` where no model is asked. */
    model: z.string(),
    cwd: z.string(),
    permission_mode: PermissionModeName,
    tools: z.array(z.string()),
    resumed: z.boolean(),
    /** A turn of this session began in a process that died. */
    interrupted: z.boolean(),
  }),
  system('turn_end', {
    turn: z.int().min(1),
    stop_reason: z.string(),
    raw_finish_reason: z.string().nullable(),
    is_error: z.boolean(),
    message: z.string(),
  }),
  system('retry', { cause: z.string(), delay_ms: z.number().min(0), message: z.string().nullable() }),
  system('model_fallback', { from: z.string(), to: z.string() }),
  system('compacted', { tokens_before: Count, tokens_after: Count }),
  system('hook_message', { hook: z.string(), text: z.string() }),
  system('stop_hook_loop', { blocks: Count }),
  system('hook_failure', { event: z.string(), hook: z.string(), message: z.string(), blocked: z.boolean() }),
  /** A line of the input that is no frame, or answers nothing. */
  system('input_error', { line: z.int().min(1), message: z.string() }),
]);

const ControlRequestFrame = z.strictObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.strictObject({
    subtype: z.literal('can_use_tool'),
    tool_use_id: z.string(),
    tool_name: z.string(),
    title: z.string(),
    effect: z.enum(['read', 'write', 'execute', 'agent']),
    input: JsonObject,
    /** What `always` would allow for the rest of the session. */
    grant: z.string(),
  }),
});

/** The answer to that request counts no more. */
const ControlCancelFrame = z.strictObject({ type: z.literal('control_cancel_request'), request_id: z.string() });

const ControlReplyFrame = z.strictObject({
  type: z.literal('control_response'),
  response: z.discriminatedUnion('subtype', [
    z.strictObject({ subtype: z.literal('success'), request_id: z.string(), response: JsonObject }),
    z.strictObject({ subtype: z.literal('error'), request_id: z.string(), error: z.string() }),
  ]),
});

/** Why a run ended, in a word; all but `success` are errors. */
export const ResultSubtype = z.enum([
  'success',
  'cancelled',
  'error_max_turns',
  'error_budget',
  'error_token_limit',
  'error_loop',
  'error_prompt_blocked',
  'error_output_limit',
  'error_content_filtered',
  'error_tool_format',
  'error_during_execution',
  'error_unfinished',
  'error_structured_output',
  'error_input',
  'error_start',
]);
export type ResultSubtype = z.output<typeof ResultSubtype>;

export const ResultFrame = z.strictObject({
  type: z.literal('result'),
  subtype: ResultSubtype,
  is_error: z.boolean(),
  exit_code: Count,
  /** `null` where no session was opened. */
  session_id: z.string().nullable(),
  model: z.string().nullable(),
  /** The loop's; `null` where no turn ran. */
  stop_reason: z.string().nullable(),
  /** As the provider said it. */
  raw_finish_reason: z.string().nullable(),
  /** The text of the last response. */
  result: z.string(),
  structured_result: JsonObject.nullable(),
  /** `status`: of the model's HTTP response. */
  error: z.strictObject({ message: z.string(), status: z.int().nullable() }).nullable(),
  duration_ms: Count,
  /** Responses of the model, in all prompts of the run. */
  num_turns: Count,
  /** Of all requests of this run but those of subagents. */
  usage: z.strictObject({ input_tokens: Count, output_tokens: Count, cached_input_tokens: Count, reasoning_tokens: Count }),
  permission_denials: z.array(
    z.strictObject({ tool_use_id: z.string(), tool_name: z.string(), tool_input: z.unknown(), reason: z.string() }),
  ),
  /** Messages that came and that no prompt took. */
  undelivered: Count,
});
export type ResultFrame = z.output<typeof ResultFrame>;

export const OutputFrame = z.discriminatedUnion('type', [
  SystemFrame,
  UserFrame,
  AssistantFrame,
  StreamEventFrame,
  ControlRequestFrame,
  ControlCancelFrame,
  ControlReplyFrame,
  ResultFrame,
]);
export type OutputFrame = z.output<typeof OutputFrame>;
export type UserContent = z.output<typeof UserFrame>['message']['content'];
export type AssistantContent = z.output<typeof AssistantFrame>['message']['content'];

const UserInput = z.strictObject({
  type: z.literal('user'),
  message: z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string().trim().min(1), z.array(TextBlock).min(1)]),
  }),
});

const ControlInput = z.strictObject({
  type: z.literal('control_request'),
  request_id: z.string().min(1),
  request: z.discriminatedUnion('subtype', [
    /** `can_use_tool`: this client answers such requests. */
    z.strictObject({ subtype: z.literal('initialize'), can_use_tool: z.boolean().default(false) }),
    z.strictObject({ subtype: z.literal('interrupt') }),
    z.strictObject({ subtype: z.literal('set_permission_mode'), mode: PermissionModeName }),
    z.strictObject({ subtype: z.literal('continue_last_turn') }),
  ]),
});
export type ControlInput = z.output<typeof ControlInput>;

const PermissionAnswer = z.discriminatedUnion('behavior', [
  z.strictObject({ behavior: z.literal('allow'), always: z.boolean().default(false) }),
  z.strictObject({ behavior: z.literal('deny'), message: z.string().optional() }),
]);
export type PermissionAnswer = z.output<typeof PermissionAnswer>;

const ControlAnswer = z.strictObject({
  type: z.literal('control_response'),
  response: z.discriminatedUnion('subtype', [
    z.strictObject({ subtype: z.literal('success'), request_id: z.string(), response: PermissionAnswer }),
    z.strictObject({ subtype: z.literal('error'), request_id: z.string(), error: z.string() }),
  ]),
});
export type ControlAnswer = z.output<typeof ControlAnswer>;

export const InputFrame = z.discriminatedUnion('type', [UserInput, ControlInput, ControlAnswer]);
export type InputFrame = z.output<typeof InputFrame>;
