/** What REST routes take beside the bodies that `contracts` defines. Everything is strict: an unknown parameter is refused. */
import { Id, PageLimit, PageQuery, Task, UserQuestion } from '@echelon/contracts';
import { LIMITS } from '@echelon/domain';
import { z } from 'zod';

export const ListProfiles = PageQuery.extend({ workspace_id: Id.optional() });
export type ListProfiles = z.infer<typeof ListProfiles>;

export const ListWorkflows = PageQuery.extend({ workspace_id: Id.optional() });
export type ListWorkflows = z.infer<typeof ListWorkflows>;

const Sequence = z.coerce.number().int().min(0).max(LIMITS.whole_number.default);

export const ListMessages = z
  .strictObject({
    limit: PageLimit,
    before: Sequence.optional().describe('Sequence of a message, exclusive.'),
    after: Sequence.optional().describe('Sequence of a message, exclusive.'),
    types: z
      .string()
      .max(500)
      .optional()
      .describe('Types of messages, separated by commas; all where absent.')
      .transform((types) => types?.split(',').filter((type) => type !== '')),
    thread_id: Id.optional().describe('The messages of one subagent; where absent, those of the session itself.'),
  })
  .refine(({ before, after }) => before === undefined || after === undefined, { path: ['before'], error: 'Not together with after' });
export type ListMessages = z.infer<typeof ListMessages>;

export const ListQuestions = PageQuery.extend({
  kind: z.enum(['parent', 'user']).optional().describe('To parents, or to operators; both where absent.'),
  task_id: Id.optional(),
  status: z.enum(['pending', 'answered', 'superseded', 'stale', 'rejected', 'expired', 'cancelled']).optional(),
});
export type ListQuestions = z.infer<typeof ListQuestions>;

export const ListNotifications = PageQuery.extend({
  workspace_id: Id.optional(),
  all: z.stringbool().optional().describe('Acknowledged ones, too.'),
});
export type ListNotifications = z.infer<typeof ListNotifications>;

export const StopTask = z.strictObject({ cascade: z.boolean().default(false) }).meta({ id: 'StopTask' });
export type StopTask = z.infer<typeof StopTask>;

export const DeleteTask = z.strictObject({ cascade: z.stringbool().default(false).describe('true: all tasks below it too.') });
export type DeleteTask = z.infer<typeof DeleteTask>;

export const ArchivedTask = Task.extend({ already_archived: z.boolean() }).meta({ id: 'ArchivedTask' });

export const SetAutoRun = z.strictObject({ auto_run: z.boolean() }).meta({ id: 'SetAutoRun' });
export type SetAutoRun = z.infer<typeof SetAutoRun>;

export const FollowEvents = z.strictObject({
  workspace_id: Id.optional(),
  task_id: Id.optional(),
  after: z.string().max(512).optional().describe('Position of the last event that you have; `Last-Event-ID` goes before it.'),
});
export type FollowEvents = z.infer<typeof FollowEvents>;

/** What a user question's answer returns: `claimed` is false for the operator who came second (V4). */
export const AnsweredUserQuestion = UserQuestion.extend({ claimed: z.boolean() }).meta({ id: 'AnsweredUserQuestion' });
