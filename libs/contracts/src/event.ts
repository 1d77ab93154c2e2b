import { z } from 'zod';
import { Id, Instant } from './common.js';

/** Durable domain events (`noun.past`); each is a row with a position (protocol.md K15). */
const EVENT_TYPES = [
  'task.created',
  'task.updated',
  'task.archived',
  'task.deleted',
  'task.moved',
  'task.move_voided',
  'task.plan_changed',
  'workflow.changed',
  'session.created',
  'session.updated',
  'turn.started',
  'turn.parked',
  'turn.finished',
  'turn.recovered',
  'message.added',
  'message.updated',
  'queue.changed',
  'question.asked',
  'question.answered',
  'question.ended',
  'operator.notified',
  'notification.acknowledged',
  'wake.lost',
] as const;
export const EventType = z.enum(EVENT_TYPES);
export type EventType = z.infer<typeof EventType>;

export const DurableEvent = z
  .object({
    position: z.string(),
    type: EventType,
    workspace_id: Id,
    task_id: Id.nullable(),
    session_id: Id.nullable(),
    at: Instant,
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'DurableEvent' });
export type DurableEvent = z.infer<typeof DurableEvent>;

/** Live only, never replayed: a piece of text as a model streams it. */
export const LiveEvent = z
  .object({
    type: z.enum(['text-delta', 'thought-delta', 'tool-output', 'attempt-abandoned']),
    workspace_id: Id,
    task_id: Id,
    session_id: Id,
    turn_id: Id,
    message_id: Id.nullable(),
    offset: z.int(),
    text: z.string(),
  })
  .meta({ id: 'LiveEvent' });
export type LiveEvent = z.infer<typeof LiveEvent>;
