/**
 * What must hold whatever was killed before (autopilot-contract.md §9). Each invariant is a query that returns the rows which offend
 * it, with ids and counts and no content.
 */
import { RELEASING_STATES } from '@echelon/domain';
import type { OpenTx } from '../database.js';
import { isPresent } from './presence-lock.js';

const PENDING = `type = 'parent_question' AND metadata->>'status' = 'pending'`;
const ENDED = `('completed', 'failed', 'cancelled')`;

/** Tool calls and their results as the conversations have them. */
const CALLS = `
calls AS (SELECT m.session_id, m.turn_id, coalesce(m.thread_id::text, '') AS thread, part->>'call_id' AS call_id FROM message m, jsonb_array_elements(m.content::jsonb->'parts') AS part
  WHERE m.type = 'response' AND part->>'type' = 'tool_call'),
results AS (SELECT m.session_id, coalesce(m.thread_id::text, '') AS thread, part->>'call_id' AS call_id FROM message m, jsonb_array_elements(m.content::jsonb->'parts') AS part
  WHERE m.type = 'tool_result' AND part->>'type' = 'tool_result')`;

/**
 * An entry at the head of a session's queue rightly waits: for a worker, for the end of the turn that is open, or for what holds the
 * session (`ADMITTED` of the domain). `s` is the session, `k` its task.
 */
const WAITS = `(s.runnable OR NOT s.auto_run OR k.state = 'blocked' OR EXISTS (SELECT 1 FROM turn o WHERE o.session_id = s.id AND o.status <> 'finished')
  OR EXISTS (SELECT 1 FROM task_dependency d JOIN task b ON b.id = d.blocked_by_id WHERE d.task_id = k.id AND b.state NOT IN (${RELEASING_STATES.map((state) => `'${state}'`).join()})))`;

/**
 * Nobody will do the work of session `s`, as far as rows can tell: it was never announced, or the sweep should have announced it again
 * twice over while a live worker that reaches its folder had a free slot. What is announced and waits for a slot is a backlog, and so is work without workers.
 */
const LOST = `s.lease_owner IS NULL AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.session_id = s.id)
  AND (s.announced_at IS NULL OR (s.announced_at < clock_timestamp() - (2 << least(s.announcements, 6)) * interval '30 seconds'
    AND EXISTS (SELECT 1 FROM worker w WHERE ${isPresent('w.presence')} AND coalesce((SELECT f.workspace_root_id = w.workspace_root_id
        FROM task t JOIN task_folder f ON f.folder = t.folder WHERE t.id = s.task_id), true)
      AND w.slots > (SELECT count(*) FROM session h WHERE h.lease_presence = w.presence))))`;

/**
 * How call `c` may have created task `t`: under its own id (K16), behind that of its thread where a subagent made it, or else its result says so. Results are shortened, and a repeated
 * call names the task too; a call that wrote a key of its own is known by no more than that.
 */
const BY_ID = `t.idempotency_key_hash = sha256(convert_to('call:' || coalesce(c.thread_id::text || ':', '') || c.call_id, 'UTF8'))`;
const BY_RESULT = `c.result LIKE '%"id": "' || t.id || '"%' AND c.result NOT LIKE '%"deduplicated": true%'`;
const BY_OWN_KEY = `c.arguments LIKE '%"idempotency_key"%'`;

/** The invariants by name, in the order of the contract. */
const INVARIANTS = {
  'at most one pending question per session': `SELECT session_id FROM message WHERE ${PENDING} GROUP BY session_id HAVING count(*) > 1`,
  'at most one unfinished turn per session': `SELECT session_id FROM turn WHERE status <> 'finished' GROUP BY session_id HAVING count(*) > 1`,
  'exactly one primary session per task': `
    SELECT t.id, count(s.id)::int AS primaries FROM task t LEFT JOIN session s ON s.task_id = t.id AND s.is_primary GROUP BY t.id HAVING count(s.id) <> 1`,
  'every answered question has exactly one queue entry': `
    SELECT q.id, count(e.id)::int AS entries FROM message q LEFT JOIN queue_entry e ON e.question_id = q.id AND e.kind = 'answer'
    WHERE q.type = 'parent_question' GROUP BY q.id HAVING count(e.id) <> CASE WHEN q.metadata->>'status' = 'answered' THEN 1 ELSE 0 END`,
  'every answered question has exactly one child turn, if its session can still run': `
    SELECT q.id, count(t.id)::int AS turns FROM message q JOIN session s ON s.id = q.session_id
      JOIN queue_entry e ON e.question_id = q.id AND e.kind = 'answer' LEFT JOIN turn t ON t.opening_entry_id = e.id AND t.session_id = q.session_id
    JOIN task k ON k.id = s.task_id
    WHERE q.metadata->>'status' = 'answered' AND e.state <> 'failed' AND NOT (e.state = 'queued' AND ${WAITS}) GROUP BY q.id HAVING count(t.id) <> 1`,
  'every delivered entry has exactly one turn of its session': `
    SELECT e.id FROM queue_entry e WHERE e.state = 'delivered' AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.id = e.turn_id AND t.session_id = e.session_id)
    UNION SELECT e.id FROM queue_entry e JOIN turn t ON t.opening_entry_id = e.id WHERE e.turn_id IS DISTINCT FROM t.id`,
  'every tool call has exactly one result message': `
    WITH ${CALLS} SELECT c.session_id, c.call_id, count(r.call_id)::int AS results FROM calls c JOIN turn t ON t.id = c.turn_id AND t.status = 'finished'
    LEFT JOIN results r ON r.session_id = c.session_id AND r.thread = c.thread AND r.call_id = c.call_id GROUP BY c.session_id, c.thread, c.call_id HAVING count(r.call_id) <> 1`,
  'every result message answers a call': `
    WITH ${CALLS} SELECT r.session_id, r.call_id FROM results r LEFT JOIN calls c USING (session_id, thread, call_id) WHERE c.call_id IS NULL`,
  'every tool call of a finished turn is settled': `
    SELECT c.id, c.state FROM tool_call c JOIN turn t ON t.id = c.turn_id WHERE t.status = 'finished' AND c.state IN ('requested', 'intent')`,
  'every task that an agent of ours created has exactly one creating call': `
    SELECT t.id, count(*) FILTER (WHERE ${BY_ID})::int AS calls FROM task t JOIN session s ON s.id = t.created_by_session_id AND s.runtime = 'loop' AND s.deleted_at IS NULL
    LEFT JOIN tool_call c ON c.session_id = s.id AND c.name = 'create_task_kandev'
    GROUP BY t.id HAVING CASE count(*) FILTER (WHERE ${BY_ID}) WHEN 1 THEN false WHEN 0
      THEN count(*) FILTER (WHERE ${BY_RESULT}) <> 1 AND count(*) FILTER (WHERE ${BY_OWN_KEY}) = 0 ELSE true END`,
  'no session runs without a live lease': `
    SELECT s.id FROM session s WHERE s.state = 'running' AND NOT coalesce(s.lease_until > clock_timestamp() AND (s.lease_presence IS NULL OR ${isPresent('s.lease_presence')}), false)`,
  'no session that does not run holds a worker': `SELECT id, state FROM session WHERE state <> 'running' AND lease_owner IS NOT NULL`,
  'no session has work that nobody does': `SELECT s.id, s.state FROM session s WHERE s.runnable AND ${LOST}`,
  'every pending question can be answered by its parent': `
    SELECT q.id FROM message q JOIN session s ON s.id = q.session_id JOIN task child ON child.id = s.task_id
    LEFT JOIN task parent ON parent.id = child.parent_id AND parent.id::text = q.metadata->>'parent_task_id'
    WHERE q.${PENDING} AND (parent.id IS NULL OR parent.archived_at IS NOT NULL OR parent.state IN ${ENDED} OR s.state IN ${ENDED}
      OR NOT EXISTS (SELECT 1 FROM session p WHERE p.task_id = parent.id AND p.state NOT IN ${ENDED})
      OR NOT EXISTS (SELECT 1 FROM queue_entry e WHERE e.question_id = q.id AND e.kind = 'question' AND e.state IN ('queued', 'delivered')))`,
  'no child waits for nobody': `
    SELECT s.id FROM session s WHERE s.state = 'waiting_for_input' AND NOT EXISTS (SELECT 1 FROM message q WHERE q.session_id = s.id AND q.${PENDING})`,
  'autopilot equals its value at creation': `
    SELECT t.id FROM task t JOIN audit a ON a.action = 'task.create' AND a.subject = t.id::text WHERE (a.detail->>'autopilot')::boolean <> t.autopilot`,
  'parent links are acyclic': `
    WITH RECURSIVE ancestor AS (SELECT id, parent_id FROM task UNION ALL SELECT a.id, t.parent_id FROM ancestor a JOIN task t ON t.id = a.parent_id)
      CYCLE id, parent_id SET repeats USING path
    SELECT DISTINCT id FROM ancestor WHERE repeats AND parent_id IS NOT NULL`,
  'open children are counted as they are': `
    SELECT p.id, p.open_children, count(c.id)::int AS open FROM task p LEFT JOIN task c ON c.parent_id = p.id AND c.state NOT IN ${ENDED} AND c.archived_at IS NULL
    GROUP BY p.id HAVING p.open_children <> count(c.id)`,
} as const satisfies Readonly<Record<string, string>>;

export type InvariantName = keyof typeof INVARIANTS;

/**
 * What recovery makes true again within seconds: a row that offends one of these for a moment is on its way, not lost. The others
 * hold after every commit.
 */
const HEALED: ReadonlySet<InvariantName> = new Set(['no session runs without a live lease', 'no session has work that nobody does']);

export interface CheckedInvariant {
  readonly name: InvariantName;
  /** `false`: recovery may still be under way for an offending row; it offends when a later check finds it again. */
  readonly always: boolean;
  readonly rows: readonly object[];
}

/**
 * Checks every invariant on one snapshot; `tx` must not have read anything yet. At most `limit` rows of each are returned. The queries
 * read whole tables: one that takes longer than `statementMs` fails, and the transaction with it (`isStatementTimeout`).
 */
export async function checkInvariants(tx: OpenTx, limit: number, statementMs = 0): Promise<readonly CheckedInvariant[]> {
  tx.send('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  if (statementMs > 0) tx.send(`SET LOCAL statement_timeout = ${statementMs}`);
  const names = Object.keys(INVARIANTS) as InvariantName[];
  return Promise.all(
    names.map(async (name) => ({
      name,
      always: !HEALED.has(name),
      rows: await tx.query(`SELECT * FROM (${INVARIANTS[name]}) AS offending LIMIT ${limit}`),
    })),
  );
}
