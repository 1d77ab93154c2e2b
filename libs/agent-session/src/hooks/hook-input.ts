/** What a hook is told, as JSON on its standard input or in the body of the POST (docs/hooks.md). */
import type { CallStatus, PlannedCall, SendType, SettledCall, UnifiedFinishReason } from '@echelon/agent-loop';

/** Rises when a field changes its meaning or goes; fields may be added within a version. */
export const HOOK_INPUT_VERSION = 1;

/** Said at every event. */
export interface HookInputHead {
  readonly version: typeof HOOK_INPUT_VERSION;
  readonly session_id: string;
  /** The turn, which a prompt opened; the same for all that follows from the prompt. */
  readonly turn_id: string;
  /** `null` where no task is worked on. */
  readonly task_id: string | null;
  /** The session's folder, absolute. */
  readonly cwd: string;
}

interface CallInput {
  readonly call_id: string;
  readonly tool_name: string;
}

interface ResultInput {
  readonly status: CallStatus;
  readonly is_error: boolean;
  /** What the model will read, before it is cut to the output budget. */
  readonly text: string;
}

export type HookInput =
  | { readonly event: 'prompt_submit'; readonly send_type: SendType; readonly prompt: string }
  | ({ readonly event: 'before_tool'; readonly input: unknown } & CallInput)
  | ({ readonly event: 'after_tool'; readonly input: unknown; readonly result: ResultInput } & CallInput)
  | { readonly event: 'after_batch'; readonly results: readonly (CallInput & ResultInput)[] }
  | { readonly event: 'stop'; readonly finish_reason: UnifiedFinishReason; readonly text: string };

export function toCall({ call }: PlannedCall<never>): CallInput {
  return { call_id: call.callId, tool_name: call.name };
}

export function toResult({ status, isError, text }: SettledCall): ResultInput {
  return { status, is_error: isError, text };
}
