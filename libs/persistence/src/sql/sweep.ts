/** What the sweep looks for (K10, K12): void leases, runnable sessions that nothing announced lately, waits whose time has come. */
import type { Tx } from '../database.js';
import { isPresent } from './presence-lock.js';
import { REACHED_ROOTS } from './workspace-root.js';

/** Sessions whose lease is void: the holder's presence lock is gone, or the time has passed. */
export function listVoidLeases(tx: Tx, limit: number): Promise<readonly { readonly id: string }[]> {
  return tx.query(
    `SELECT s.id FROM session s WHERE s.lease_owner IS NOT NULL
       AND (s.lease_until <= clock_timestamp() OR (s.lease_presence IS NOT NULL AND NOT ${isPresent('s.lease_presence')})) LIMIT $1`,
    [limit],
  );
}

/**
 * Runnable sessions without a holder that nothing announced for `afterMs`, doubled with each announcement in vain. One whose folder no
 * live worker reaches is left: its announcement waits in the queue of its root, and the worker that comes looks for it.
 */
export function listForgotten(tx: Tx, afterMs: number, limit: number): Promise<readonly { readonly id: string }[]> {
  return tx.query(
    `WITH reached AS MATERIALIZED (${REACHED_ROOTS})
     SELECT s.id FROM session s JOIN task t ON t.id = s.task_id LEFT JOIN task_folder f ON f.folder = t.folder
     WHERE s.runnable AND s.lease_owner IS NULL AND (f.folder IS NULL OR f.workspace_root_id IN (SELECT id FROM reached))
       AND (s.announced_at IS NULL OR s.announced_at < clock_timestamp() - $1 * (1 << least(s.announcements, 6)) * interval '1 millisecond')
     ORDER BY s.announced_at NULLS FIRST LIMIT $2`,
    [afterMs, limit],
  );
}

/** Sessions whose `wake_at` has passed and that are not marked runnable yet. */
export function listDue(tx: Tx, limit: number): Promise<readonly { readonly id: string }[]> {
  return tx.query('SELECT id FROM session WHERE wake_at <= clock_timestamp() AND NOT runnable ORDER BY wake_at LIMIT $1', [limit]);
}

/** One more announcement in vain: the next comes after twice the time (K10). */
export async function countAnnouncement(tx: Tx, sessionId: string): Promise<void> {
  await tx.query('UPDATE session SET announcements = announcements + 1 WHERE id = $1', [sessionId]);
}

/** Pending parent questions whose profile's time-out has passed (S8). */
export function listExpiredQuestions(tx: Tx, limit: number): Promise<readonly { readonly id: string }[]> {
  return tx.query(
    `SELECT q.id FROM message q JOIN session s ON s.id = q.session_id JOIN agent_profile p ON p.id = s.profile_id
     WHERE q.type = 'parent_question' AND q.metadata->>'status' = 'pending' AND p.parent_question_timeout_seconds IS NOT NULL
       AND q.created_at < clock_timestamp() - p.parent_question_timeout_seconds * interval '1 second' LIMIT $1`,
    [limit],
  );
}

/** Pending operator questions whose profile's time-out has passed (V4). */
export function listExpiredUserQuestions(tx: Tx, limit: number): Promise<readonly { readonly id: string }[]> {
  return tx.query(
    `SELECT q.id FROM message q JOIN session s ON s.id = q.session_id JOIN agent_profile p ON p.id = s.profile_id
     WHERE q.type = 'user_question' AND q.metadata->>'status' = 'pending' AND p.user_question_timeout_seconds IS NOT NULL
       AND q.created_at < clock_timestamp() - p.user_question_timeout_seconds * interval '1 second' LIMIT $1`,
    [limit],
  );
}
