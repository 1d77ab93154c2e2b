/** Rows as Postgres returns them. `bigint` columns arrive as text; times as `Date`, milliseconds. */
import type {
  DeliveryMode,
  EntryKind,
  OnTurnComplete,
  QueueEntryState,
  QuestionStatus,
  RuntimeKind,
  SessionKind,
  SessionState,
  TaskState,
  TurnOutcome,
  TurnStatus,
} from '@echelon/domain';

export interface WorkspaceRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

export interface ProfileRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly runtime: RuntimeKind;
  /** Program and arguments of an agent over ACP; `null` with every other runtime. */
  readonly command: readonly string[] | null;
  readonly provider: string;
  readonly model: string;
  readonly system_prompt: string;
  readonly max_output_tokens: number | null;
  readonly context_window: number | null;
  readonly fallback_models: readonly string[];
  /** What the contract `Budgets` says; all off unless set. */
  readonly budgets: Readonly<Record<string, number | undefined>>;
  /** What the contract `HooksConfig` says; all off unless set. */
  readonly hooks: object;
  readonly parent_question_timeout_seconds: number | null;
  readonly user_question_timeout_seconds: number | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly archived_at: Date | null;
}

/** A token as it may be shown: the hash is never read back. */
export interface TokenRow {
  readonly id: string;
  readonly kind: 'operator' | 'session';
  readonly label: string;
  readonly operator_id: string | null;
  readonly workspace_id: string | null;
  readonly session_id: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
}

export interface TaskRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly parent_id: string | null;
  readonly depth: number;
  readonly title: string;
  readonly title_source: 'provisional' | 'generated' | 'manual';
  readonly title_revision: number;
  readonly prompt: string;
  readonly autopilot: boolean;
  readonly state: TaskState;
  readonly profile_id: string;
  readonly workspace_mode: 'inherit_parent' | 'new_workspace';
  readonly folder: string;
  readonly workflow_step_id: string | null;
  readonly start_when_unblocked: boolean;
  readonly open_children: number;
  readonly child_set: number;
  readonly stopping: boolean;
  readonly result: string | null;
  readonly idempotency_body_hash: Buffer | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly ended_at: Date | null;
  readonly archived_at: Date | null;
  readonly deleted_at: Date | null;
}

export interface WorkflowStepRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly workflow_id: string;
  /** From 1 on; negative once it is archived. */
  readonly position: number;
  readonly name: string;
  readonly on_turn_complete: OnTurnComplete;
  readonly move_to_step_id: string | null;
  readonly requires_signal: boolean;
  /** Empty where it has none. */
  readonly instructions: string;
  readonly archived_at: Date | null;
}

export interface WorkflowRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly is_default: boolean;
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly archived_at: Date | null;
}

export interface SessionRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly task_id: string;
  readonly kind: SessionKind;
  readonly name: string;
  readonly state: SessionState;
  readonly is_primary: boolean;
  readonly runtime: RuntimeKind;
  readonly profile_id: string;
  readonly auto_run: boolean;
  readonly lease_owner: string | null;
  readonly lease_presence: string | null;
  readonly lease_epoch: string;
  readonly lease_until: Date | null;
  readonly runnable: boolean;
  readonly wake_at: Date | null;
  /** What an agent over ACP calls this conversation. */
  readonly agent_session_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly ended_at: Date | null;
}

export interface TurnRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly session_id: string;
  readonly number: number;
  readonly status: TurnStatus;
  readonly opening_entry_id: string;
  readonly contract: unknown;
  readonly system_prompt: string | null;
  readonly admission_open: boolean;
  readonly stop_requested_at: Date | null;
  readonly ended_by_question_id: string | null;
  readonly completion_signal: { readonly summary: string; readonly call_id?: string | null } | null;
  /** The step that the task moves to when the turn ends. */
  readonly deferred_step_id: string | null;
  readonly parked_for: 'approval' | 'user_answer' | 'retry' | null;
  readonly involuntary_resumes: number;
  readonly resume_at: Date | null;
  /** When the turn was last known to get on: a barrier of its journal, or a call of an agent from outside. */
  readonly last_barrier_at: Date | null;
  readonly outcome: TurnOutcome | null;
  readonly outcome_detail: string | null;
  readonly finish_reason: string | null;
  readonly raw_finish_reason: string | null;
  readonly counters: Readonly<Record<string, number>> | null;
  readonly rounds: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

export interface QueueEntryRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly session_id: string;
  readonly rank: 0 | 1 | 2 | 3;
  readonly order: number;
  readonly kind: EntryKind;
  readonly text: string;
  readonly sender_kind: 'operator' | 'task' | 'system';
  readonly sender_task_id: string | null;
  readonly sender_session_id: string | null;
  readonly question_id: string | null;
  /** The step whose instructions it carries. */
  readonly workflow_step_id: string | null;
  readonly delivery_mode: DeliveryMode;
  readonly idempotency_body_hash: Buffer | null;
  readonly state: QueueEntryState;
  readonly cause: string | null;
  readonly turn_id: string | null;
  /** Rises with each edit of the text. */
  readonly revision: number;
  readonly created_at: Date;
  readonly settled_at: Date | null;
}

export interface MessageRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly session_id: string;
  readonly sequence: number;
  readonly turn_id: string | null;
  /** Of a subagent's message, the call that started it; `null` in the session's own conversation. */
  readonly thread_id: string | null;
  readonly type: string;
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  /** Serialised parts, exactly as they were written. */
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly hidden: boolean;
  readonly created_at: Date;
}

/** Metadata of a message of type `parent_question`: the only source of truth for the wait (seed ADR, 7). Times are RFC 3339. */
export interface ParentQuestionMetadata {
  readonly status: QuestionStatus;
  readonly task_id: string;
  readonly parent_task_id: string;
  readonly parent_session_id: string;
  readonly parent_entry_id: string;
  readonly idempotency_key: string;
  readonly questions: readonly {
    readonly id: string;
    readonly title?: string | undefined;
    readonly prompt: string;
    readonly options?: readonly { readonly label: string; readonly description?: string | undefined }[] | undefined;
  }[];
  readonly context: string | null;
  readonly caused_by_question_id: string | null;
  readonly answer?: { readonly text: string; readonly session_id: string | null; readonly delivery_id: string; readonly at: string };
  readonly cause?: string;
  readonly ended_at?: string;
  /** The one reminder to the parent, and when operators were told (S7). */
  readonly reminder_entry_id?: string;
}

/** A parent question: the message with its metadata. */
export type QuestionRow = Omit<MessageRow, 'metadata'> & { readonly metadata: ParentQuestionMetadata };

/** Metadata of a message of type `user_question`: the only source of truth for the wait (V4). Times are RFC 3339. */
export interface UserQuestionMetadata {
  readonly status: 'pending' | 'answered' | 'rejected' | 'expired' | 'cancelled';
  /** Hashes in hexadecimal (K16). */
  readonly idempotency_key: string;
  readonly body_hash: string;
  readonly questions: ParentQuestionMetadata['questions'];
  readonly context: string | null;
  readonly answers?: Readonly<Record<string, string>> | null;
  readonly reject_reason?: string | null;
  readonly decided_by?: string;
  readonly ended_at?: string;
}

/** A question to the operator: the message with its metadata. */
export type UserQuestionRow = Omit<MessageRow, 'metadata'> & { readonly metadata: UserQuestionMetadata };
