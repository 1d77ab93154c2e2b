import { z } from 'zod';
import { Id, Instant } from './common.js';

/** What operators are told once: a parent leaves a question unanswered, or cannot see it because its queue is paused (S7). */
export const Notification = z
  .object({
    id: Id,
    reason: z.enum(['question_unanswered', 'question_to_paused_parent']),
    task_id: Id.describe('The task that should act.'),
    session_id: Id.nullable(),
    question_id: Id.nullable(),
    created_at: Instant,
    acknowledged_at: Instant.nullable(),
  })
  .meta({ id: 'Notification' });
export type Notification = z.infer<typeof Notification>;
