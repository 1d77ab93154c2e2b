/** Changes of a task's own columns. The caller holds its lock. */
import type { Tx } from '../database.js';
import type { QueueEntryRow, TaskRow } from '../rows.js';

/** Overwrites what is not null; a title that somebody wrote is manual from then on (N5). */
export async function updateTaskTexts(
  tx: Tx,
  id: string,
  texts: { readonly title: string | null; readonly prompt: string | null },
): Promise<TaskRow> {
  const [row] = await tx.query<TaskRow>(
    `UPDATE task SET title = coalesce($2, title), title_source = CASE WHEN $2::text IS NULL THEN title_source ELSE 'manual' END,
       title_revision = title_revision + CASE WHEN $2::text IS NULL THEN 0 ELSE 1 END, prompt = coalesce($3, prompt), updated_at = now()
     WHERE id = $1 RETURNING *`,
    [id, texts.title, texts.prompt],
  );
  if (!row) throw new Error(`task ${id} does not exist`);
  return row;
}

/** Replaces the task's prompt where it still waits in a queue, and gives that entry; `null` when a session of the task has had a turn already. */
export async function updateOpeningPrompt(tx: Tx, taskId: string, prompt: string): Promise<readonly QueueEntryRow[] | null> {
  const [row] = await tx.query<{ started: boolean } & (QueueEntryRow | { readonly id: null })>(
    `WITH started AS (SELECT EXISTS (SELECT 1 FROM turn u JOIN session s ON s.id = u.session_id WHERE s.task_id = $1) AS started),
       replaced AS (UPDATE queue_entry e SET text = $2 FROM session s, task t, started
         WHERE NOT started.started AND s.task_id = $1 AND s.is_primary AND t.id = $1 AND e.session_id = s.id AND e."order" = 1
           AND e.state = 'queued' AND e.kind = 'prompt' AND e.text = t.prompt RETURNING e.*)
     SELECT started.started, replaced.* FROM started LEFT JOIN replaced ON true`,
    [taskId, prompt],
  );
  if (!row || row.started) return null;
  return row.id === null ? [] : [row];
}

/** Marks tasks that a cascade takes down, or takes the marks away: creations below a marked task are refused (K20). */
export async function setStopping(tx: Tx, ids: readonly string[], stopping: boolean): Promise<void> {
  await tx.query('UPDATE task SET stopping = $2, updated_at = now() WHERE id = ANY($1::uuid[]) AND stopping <> $2', [ids, stopping]);
}

/** Topmost marked tasks whose cascade has not moved for so long: its process died. */
export async function listLeftCascades(tx: Tx, afterSeconds: number, limit: number): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT t.id FROM task t LEFT JOIN task p ON p.id = t.parent_id
     WHERE t.stopping AND p.stopping IS NOT TRUE AND t.updated_at < now() - $1 * interval '1 second' LIMIT $2`,
    [afterSeconds, limit],
  );
  return rows.map((row) => row.id);
}

/** Sets or clears the mark of the archive; `null` when it is as wanted already. */
export async function setArchived(tx: Tx, id: string, archived: boolean): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>(
    `UPDATE task SET archived_at = CASE WHEN $2 THEN now() END, updated_at = now() WHERE id = $1 AND (archived_at IS NULL) = $2 RETURNING *`,
    [id, archived],
  );
  return row ?? null;
}
