import { RUNTIME_KINDS } from '@echelon/domain';
import { z } from 'zod';
import { Id, Instant, PositiveNumber } from './common.js';
import { PendingAction } from './task.js';

const SessionState = z.enum(['created', 'running', 'idle', 'waiting_for_input', 'parked', 'completed', 'failed', 'cancelled']);
export const Session = z
  .object({
    id: Id,
    task_id: Id,
    kind: z.enum(['task', 'quick_chat', 'config', 'utility']),
    name: z.string(),
    state: SessionState,
    pending_action: PendingAction,
    is_primary: z.boolean(),
    runtime: z.enum(RUNTIME_KINDS),
    profile_id: Id,
    auto_run: z.boolean(),
    waits_for_tree: z
      .boolean()
      .meta({ description: 'It could run, but its tree runs as many turns as it may; the end of one of them lets it go on.' }),
    current_turn_id: Id.nullable(),
    created_at: Instant,
    updated_at: Instant,
    ended_at: Instant.nullable(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

/** Another session of a task. Without a prompt it starts with the task's. */
export const SpawnSession = z
  .strictObject({
    prompt: z.string().trim().min(1).optional(),
    kind: z.enum(['task', 'quick_chat', 'config', 'utility']).default('task'),
    name: z.string().trim().min(1).max(60).optional(),
    profile_id: Id.optional().describe('The profile of the task where left out.'),
    make_primary: z.boolean().default(false).describe('It becomes primary anyway when the present primary session has ended.'),
  })
  .meta({ id: 'SpawnSession' });
export type SpawnSession = z.infer<typeof SpawnSession>;

export const SpawnedSession = Session.extend({ delivery_id: Id, deduplicated: z.boolean() }).meta({ id: 'SpawnedSession' });
export type SpawnedSession = z.infer<typeof SpawnedSession>;

const TurnStatus = z.enum([
  'preparing',
  'running',
  'waiting_approval',
  'waiting_user',
  'waiting_retry',
  'stopping',
  'finishing',
  'finished',
]);
export const Turn = z
  .object({
    id: Id,
    session_id: Id,
    number: z.int(),
    status: TurnStatus,
    outcome: z.string().nullable(),
    outcome_detail: z.string().nullable(),
    finish_reason: z.string().nullable(),
    raw_finish_reason: z.string().nullable(),
    ended_by_question_id: Id.nullable(),
    rounds: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    started_at: Instant,
    ended_at: Instant.nullable(),
  })
  .meta({ id: 'Turn' });
export type Turn = z.infer<typeof Turn>;

/** One line of a conversation. `parts` is our provider-neutral form, version 1. */
export const Message = z
  .object({
    id: Id,
    session_id: Id,
    sequence: z.int(),
    turn_id: Id.nullable(),
    thread_id: Id.nullable().describe('Of a subagent’s message: the call that started it. null in the session’s own conversation.'),
    type: z.string(),
    role: z.enum(['user', 'assistant', 'tool', 'system']),
    parts: z.array(z.record(z.string(), z.unknown())),
    metadata: z.record(z.string(), z.unknown()),
    hidden: z.boolean(),
    created_at: Instant,
  })
  .meta({ id: 'Message' });
export type Message = z.infer<typeof Message>;

export const QueueEntry = z
  .object({
    id: Id,
    session_id: Id,
    kind: z.enum(['prompt', 'answer', 'question', 'alert', 'notice', 'reminder']),
    state: z.enum(['queued', 'delivered', 'cancelled', 'failed']),
    rank: z.int(),
    order: z.int(),
    text: z.string(),
    sender_kind: z.enum(['operator', 'task', 'system']),
    sender_task_id: Id.nullable(),
    sender_session_id: Id.nullable(),
    question_id: Id.nullable(),
    turn_id: Id.nullable(),
    revision: z.int().describe('Rises with each edit; name it when you edit the text.'),
    created_at: Instant,
    settled_at: Instant.nullable(),
  })
  .meta({ id: 'QueueEntry' });
export type QueueEntry = z.infer<typeof QueueEntry>;

/** A new text for a waiting entry, if it still is the revision that the editor saw. */
export const EditQueueEntry = z
  .strictObject({ text: z.string().trim().min(1), revision: PositiveNumber.describe('The revision that you read.') })
  .meta({ id: 'EditQueueEntry' });
export type EditQueueEntry = z.infer<typeof EditQueueEntry>;

/** Another place for a waiting entry among those of its rank. */
export const MoveQueueEntry = z
  .strictObject({ before: Id.nullable().describe('A waiting entry of the same rank; null: behind all of its rank.') })
  .meta({ id: 'MoveQueueEntry' });
export type MoveQueueEntry = z.infer<typeof MoveQueueEntry>;
