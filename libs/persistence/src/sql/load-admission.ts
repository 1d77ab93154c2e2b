/** The facts of the one admissibility function (K6, K10), read under the session's lock. */
import {
  type AdmissionFacts,
  type EntryKind,
  isDriven,
  RELEASING_STATES,
  type RuntimeKind,
  type SessionState,
  type TaskState,
} from '@echelon/domain';
import type { Tx } from '../database.js';

/** What decides a session's next work, and whether a live holder will see that work at its settlement. */
export interface Admission extends AdmissionFacts {
  readonly held: boolean;
  /** The workspace root in which the task's folder lies; `null` until a claim placed it. */
  readonly rootId: string | null;
}

interface AdmissionRow {
  readonly session_state: SessionState;
  readonly runtime: RuntimeKind;
  readonly auto_run: boolean;
  readonly held: boolean;
  readonly root_id: string | null;
  readonly task_state: TaskState;
  readonly archived: boolean;
  readonly dependency_open: boolean;
  readonly question_pending: boolean;
  readonly turn_id: string | null;
  readonly parked: boolean | null;
  readonly open_waits: number | null;
  readonly wake_due: boolean | null;
  readonly backing_off: boolean | null;
  readonly entries: readonly { readonly id: string; readonly kind: EntryKind; readonly rank: number; readonly order: number }[];
}

const LOAD = `
SELECT s.state AS session_state, s.runtime, s.auto_run, coalesce(s.lease_owner IS NOT NULL AND s.lease_until > clock_timestamp(), false) AS held,
  (SELECT f.workspace_root_id FROM task_folder f WHERE f.folder = t.folder) AS root_id, t.state AS task_state, t.archived_at IS NOT NULL AS archived,
  EXISTS (SELECT 1 FROM task_dependency d JOIN task b ON b.id = d.blocked_by_id WHERE d.task_id = t.id AND b.state <> ALL($2::text[])) AS dependency_open,
  EXISTS (SELECT 1 FROM message q WHERE q.session_id = s.id AND q.type = 'parent_question' AND q.metadata->>'status' = 'pending') AS question_pending,
  turn.id AS turn_id, turn.parked_for IS NOT NULL AS parked,
  (SELECT count(*)::int FROM message w WHERE w.turn_id = turn.id AND w.type = 'user_question' AND w.metadata->>'status' = 'pending')
    + (SELECT count(*)::int FROM approval a WHERE a.turn_id = turn.id AND a.state = 'pending')
    + (CASE WHEN turn.parked_for = 'retry' THEN 1 ELSE 0 END) AS open_waits,
  coalesce(s.wake_at <= clock_timestamp(), false) AS wake_due, coalesce(turn.resume_at > clock_timestamp(), false) AS backing_off,
  coalesce((SELECT json_agg(json_build_object('id', e.id, 'kind', e.kind, 'rank', e.rank, 'order', e."order"))
    FROM (SELECT id, kind, rank, "order" FROM queue_entry WHERE session_id = s.id AND state = 'queued' ORDER BY rank, "order" LIMIT 50) e), '[]') AS entries
FROM session s JOIN task t ON t.id = s.task_id LEFT JOIN turn ON turn.session_id = s.id AND turn.status <> 'finished'
WHERE s.id = $1`;

/** Loads what decides a session's next work. The caller holds the session's lock, so the answer stays true until its commit. */
export async function loadAdmission(tx: Tx, sessionId: string): Promise<Admission> {
  const facts = await findAdmission(tx, sessionId);
  if (!facts) throw new Error(`session ${sessionId} does not exist`);
  return facts;
}

/** The same for a session that may be gone. */
export async function findAdmission(tx: Tx, sessionId: string): Promise<Admission | null> {
  const [row] = await tx.query<AdmissionRow>(LOAD, [sessionId, RELEASING_STATES]);
  return row ? toFacts(row) : null;
}

function toFacts(row: AdmissionRow): Admission {
  return {
    held: row.held,
    rootId: row.root_id,
    driven: isDriven(row.runtime),
    sessionState: row.session_state,
    autoRun: row.auto_run,
    taskState: row.task_state,
    taskArchived: row.archived,
    dependencyOpen: row.dependency_open,
    questionPending: row.question_pending,
    openTurn: row.turn_id
      ? {
          id: row.turn_id,
          parked: row.parked === true,
          openWaits: row.open_waits ?? 0,
          wakeDue: row.wake_due === true,
          backingOff: row.backing_off === true,
        }
      : null,
    entries: row.entries,
  };
}
