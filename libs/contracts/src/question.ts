import { LIMITS } from '@echelon/domain';
import { z } from 'zod';
import { Id, Instant } from './common.js';

const Option = z.strictObject({ label: z.string().trim().min(1), description: z.string().trim().min(1).optional() });

/** One question as an agent writes it (autopilot-contract.md §4). */
const QuestionInput = z.strictObject({
  id: z.string().trim().min(1).max(64).optional().describe('Your own short id; q1, q2, … when left out.'),
  title: z.string().trim().min(1).max(12).optional().describe('At most 12 characters.'),
  prompt: z.string().trim().min(1).describe('The question itself, complete without your conversation.'),
  options: z
    .array(Option)
    .min(2)
    .max(LIMITS.options_per_question.default)
    .optional()
    .describe('2 to 6 choices; leave out for a free answer.'),
});
export const AskQuestions = z.strictObject({
  questions: z
    .array(QuestionInput)
    .min(1)
    .max(LIMITS.questions_per_ask.default)
    .describe('What you need to know, one decision in each question; all of them are answered together.'),
  context: z.string().trim().min(1).optional().describe('What whoever answers must know to decide.'),
});
export type AskQuestions = z.infer<typeof AskQuestions>;

export const StoredQuestion = QuestionInput.extend({ id: z.string() });
export type StoredQuestion = z.infer<typeof StoredQuestion>;

/** Result of an ask, at once. */
export const AskedParent = z
  .object({ question_id: Id, parent_task_id: Id, status: z.literal('waiting_for_parent') })
  .meta({ id: 'AskedParent' });
export type AskedParent = z.infer<typeof AskedParent>;

/** A parent question as a read-only record (V2), with the chain of hops that caused it (R14). */
export const ParentQuestion = z
  .object({
    id: Id,
    task_id: Id,
    session_id: Id,
    turn_id: Id.nullable(),
    parent_task_id: Id,
    status: z.enum(['pending', 'answered', 'superseded', 'stale']),
    cause: z.string().nullable(),
    questions: z.array(StoredQuestion),
    context: z.string().nullable(),
    answer: z.object({ text: z.string(), session_id: Id.nullable(), delivery_id: Id, at: Instant }).nullable(),
    caused_by_question_id: Id.nullable(),
    asked_at: Instant,
    ended_at: Instant.nullable(),
  })
  .meta({ id: 'ParentQuestion' });
export type ParentQuestion = z.infer<typeof ParentQuestion>;

/** A question of a normal task to the operator (V4). */
export const UserQuestion = z
  .object({
    id: Id,
    task_id: Id,
    session_id: Id,
    status: z.enum(['pending', 'answered', 'rejected', 'expired', 'cancelled']),
    questions: z.array(StoredQuestion),
    context: z.string().nullable(),
    answers: z.record(z.string(), z.string()).nullable(),
    reject_reason: z.string().nullable(),
    asked_at: Instant,
    ended_at: Instant.nullable(),
  })
  .meta({ id: 'UserQuestion' });
export type UserQuestion = z.infer<typeof UserQuestion>;

export const AnswerUserQuestion = z
  .strictObject({
    answers: z.record(z.string(), z.string().trim().min(1)).optional(),
    rejected: z.boolean().default(false),
    reject_reason: z.string().trim().max(2000).optional(),
  })
  .meta({ id: 'AnswerUserQuestion' });
export type AnswerUserQuestion = z.infer<typeof AnswerUserQuestion>;

/** `message_task_kandev`, and the REST message (autopilot-contract.md §5, §8). */
export const SendMessage = z
  .strictObject({
    prompt: z.string().trim().min(1),
    session_id: Id.optional(),
    delivery_mode: z.enum(['queued', 'interrupt']).default('queued'),
    idempotency_key: z.string().trim().min(1).max(LIMITS.key_characters.default).optional(),
    reply_to_question_id: z.string().optional(),
  })
  .meta({ id: 'SendMessage' });
export type SendMessage = z.infer<typeof SendMessage>;

export const SentMessage = z
  .object({
    task_id: Id,
    session_id: Id,
    status: z.enum(['started', 'sent', 'queued', 'already_answered']),
    delivery_id: Id,
    reply_to_question_id: Id.optional(),
    deduplicated: z.boolean().optional(),
  })
  .meta({ id: 'SentMessage' });
export type SentMessage = z.infer<typeof SentMessage>;
