/** The sequencer's statements (K15): ids taken in transactions become visible out of order, so a committed event is stamped afterwards. */
import type { Tx } from '../database.js';

export interface StampedEvent {
  readonly position: string;
  readonly workspace_id: string;
  readonly type: string;
  readonly task_id: string | null;
  readonly session_id: string | null;
  readonly payload: string;
  readonly created_at: Date;
}

const SEQUENCER_LOCK = 7_270_738;

/** Takes the right to stamp until the transaction ends; waits for another sequencer, whose stamps are then visible. */
export async function lockSequencer(tx: Tx): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [SEQUENCER_LOCK]);
}

/** Gives committed events the next positions, in the order of their creation; at most `limit`. */
export function stampEvents(tx: Tx, limit: number): Promise<readonly StampedEvent[]> {
  return tx.query<StampedEvent>(
    `WITH ordered AS MATERIALIZED (SELECT id FROM event WHERE position IS NULL ORDER BY created_at, id LIMIT $1),
       numbered AS MATERIALIZED (SELECT id, nextval('event_position') AS position FROM ordered),
       stamped AS (UPDATE event e SET position = n.position FROM numbered n WHERE e.id = n.id
         RETURNING e.position, e.workspace_id, e.type, e.task_id, e.session_id, e.payload, e.created_at)
     SELECT * FROM stamped ORDER BY position`,
    [limit],
  );
}
