/**
 * Pages of what belongs to one session: turns, messages, queue entries. The check constraints and the writers of these
 * tables keep their text and JSON columns in the unions of our rows, which Prisma does not know.
 */
import type { Database } from './database.js';
import type { PageOf } from './keyset.js';
import type { MessageRow, QueueEntryRow, TurnRow } from './rows.js';

/** Turns from new to old; the key is a turn's number. */
export async function listTurns(database: Database, sessionId: string, page: PageOf<number>): Promise<readonly TurnRow[]> {
  const turns = await database.prisma.turn.findMany({
    where: { session_id: sessionId, ...(page.after === null ? {} : { number: { lt: page.after } }) },
    orderBy: { number: 'desc' },
    take: page.take,
  });
  return turns as unknown as TurnRow[];
}

export interface MessageFilter {
  /** Sequences, exclusive. With `before` the page ends there, with `after` it begins there. */
  readonly before: number | null;
  readonly after: number | null;
  readonly types: readonly string[] | null;
  readonly withHidden: boolean;
  /** Of one subagent, or of the session itself. */
  readonly threadId: string | null;
  readonly take: number;
}

/** A part of a conversation in its order: the last rows, those before `before`, or those after `after`. */
export async function listMessages(database: Database, sessionId: string, filter: MessageFilter): Promise<readonly MessageRow[]> {
  const forward = filter.after !== null;
  const messages = await database.prisma.message.findMany({
    where: {
      session_id: sessionId,
      thread_id: filter.threadId,
      ...(filter.types ? { type: { in: [...filter.types] } } : {}),
      ...(filter.withHidden ? {} : { hidden: false }),
      ...(forward ? { sequence: { gt: filter.after } } : {}),
      ...(filter.before === null ? {} : { AND: { sequence: { lt: filter.before } } }),
    },
    orderBy: { sequence: forward ? 'asc' : 'desc' },
    take: filter.take,
  });
  return (forward ? messages : messages.toReversed()) as MessageRow[];
}

/** Where a page of a queue ended. */
export interface QueueKey {
  readonly rank: number;
  readonly order: number;
}

/** Entries that wait, in the order of their delivery. */
export async function listQueue(database: Database, sessionId: string, page: PageOf<QueueKey>): Promise<readonly QueueEntryRow[]> {
  const { after } = page;
  const entries = await database.prisma.queueEntry.findMany({
    where: {
      session_id: sessionId,
      state: 'queued',
      ...(after ? { OR: [{ rank: { gt: after.rank } }, { rank: after.rank, order: { gt: after.order } }] } : {}),
    },
    orderBy: [{ rank: 'asc' }, { order: 'asc' }],
    take: page.take,
  });
  return entries as unknown as QueueEntryRow[];
}
