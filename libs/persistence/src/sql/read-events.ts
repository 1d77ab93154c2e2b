import type { Tx } from '../database.js';
import type { StampedEvent } from './stamp-events.js';

/** The positions that can be read: `head` is the last one given, `oldest` the first one that retention has kept. */
export interface EventRange {
  readonly head: string;
  readonly oldest: string;
}

export async function readEventRange(tx: Tx): Promise<EventRange> {
  const [row] = await tx.query<EventRange>(
    `SELECT coalesce(max(position), 0)::text AS head, coalesce((SELECT value #>> '{}' FROM setting WHERE key = 'events.oldest_position'), '1') AS oldest
     FROM event`,
  );
  if (!row) throw new Error('an aggregate returned no row');
  return row;
}

export interface EventFilter {
  readonly after: string;
  readonly through: string;
  readonly workspaceId: string | null;
  readonly taskId: string | null;
  readonly limit: number;
}

/** Stamped events of a range in the order of their positions (K15); a task's are its own and those of its sessions. */
export function readEvents(tx: Tx, filter: EventFilter): Promise<readonly StampedEvent[]> {
  return tx.query<StampedEvent>(
    `SELECT position, workspace_id, type, task_id, session_id, payload, created_at FROM event
     WHERE position > $1 AND position <= $2 AND ($3::uuid IS NULL OR workspace_id = $3)
       AND ($4::uuid IS NULL OR task_id = $4 OR session_id IN (SELECT id FROM session WHERE task_id = $4))
     ORDER BY position LIMIT $5`,
    [filter.after, filter.through, filter.workspaceId, filter.taskId, filter.limit],
  );
}
