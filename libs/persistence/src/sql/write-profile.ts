import type { Tx } from '../database.js';
import { newId } from '../id.js';
import type { ProfileRow } from '../rows.js';

/** What a profile says; the same fields are written at creation and at an edit. */
export type ProfileFields = Omit<ProfileRow, 'id' | 'workspace_id' | 'created_at' | 'updated_at' | 'archived_at'>;

function valuesOf(fields: ProfileFields): readonly unknown[] {
  return [
    fields.name,
    fields.runtime,
    fields.provider,
    fields.model,
    fields.system_prompt,
    fields.max_output_tokens,
    JSON.stringify(fields.fallback_models),
    JSON.stringify(fields.budgets),
    fields.parent_question_timeout_seconds,
    fields.user_question_timeout_seconds,
    JSON.stringify(fields.hooks),
    fields.command && JSON.stringify(fields.command),
    fields.context_window,
  ];
}

/** Stores a profile; a taken name violates `agent_profile_workspace_id_name_key`. */
export async function insertProfile(tx: Tx, workspaceId: string, fields: ProfileFields): Promise<ProfileRow> {
  const [row] = await tx.query<ProfileRow>(
    `INSERT INTO agent_profile (id, workspace_id, name, runtime, provider, model, system_prompt, max_output_tokens, fallback_models, budgets,
       parent_question_timeout_seconds, user_question_timeout_seconds, hooks, command, context_window)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING *`,
    [newId(), workspaceId, ...valuesOf(fields)],
  );
  if (!row) throw new Error('an insert returned no row');
  return row;
}

/** Overwrites a profile under its lock. */
export async function updateProfile(tx: Tx, id: string, fields: ProfileFields): Promise<ProfileRow> {
  const [row] = await tx.query<ProfileRow>(
    `UPDATE agent_profile SET name = $2, runtime = $3, provider = $4, model = $5, system_prompt = $6, max_output_tokens = $7,
       fallback_models = $8, budgets = $9, parent_question_timeout_seconds = $10,
       user_question_timeout_seconds = $11, hooks = $12, command = $13, context_window = $14, updated_at = now() WHERE id = $1 RETURNING *`,
    [id, ...valuesOf(fields)],
  );
  if (!row) throw new Error(`profile ${id} does not exist`);
  return row;
}

/** Marks a profile as archived; the first time stays. */
export async function archiveProfile(tx: Tx, id: string): Promise<ProfileRow> {
  const [row] = await tx.query<ProfileRow>(
    'UPDATE agent_profile SET archived_at = coalesce(archived_at, now()), updated_at = now() WHERE id = $1 RETURNING *',
    [id],
  );
  if (!row) throw new Error(`profile ${id} does not exist`);
  return row;
}

/** Locks a profile for an edit: creations that use it wait, and it waits for them (F11). */
export async function lockProfile(tx: Tx, id: string): Promise<ProfileRow | null> {
  const [row] = await tx.query<ProfileRow>('SELECT * FROM agent_profile WHERE id = $1 FOR NO KEY UPDATE', [id]);
  return row ?? null;
}

/** Holds a profile of the workspace as it is until the commit, for a creation that relies on it; archived ones are absent. */
export async function holdProfile(tx: Tx, workspaceId: string, id: string): Promise<ProfileRow | null> {
  const [row] = await tx.query<ProfileRow>(
    'SELECT * FROM agent_profile WHERE workspace_id = $1 AND id = $2 AND archived_at IS NULL FOR SHARE',
    [workspaceId, id],
  );
  return row ?? null;
}

/** Holds the workspace's oldest profile that is not archived. */
export async function holdFirstProfile(tx: Tx, workspaceId: string): Promise<ProfileRow | null> {
  const [row] = await tx.query<ProfileRow>(
    'SELECT * FROM agent_profile WHERE workspace_id = $1 AND archived_at IS NULL ORDER BY created_at, id LIMIT 1 FOR SHARE',
    [workspaceId],
  );
  return row ?? null;
}

/** Autopilot tasks that have not ended and use the profile, by themselves or in a live session (F11). */
export async function countAutopilotUses(tx: Tx, profileId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM task t WHERE t.autopilot AND t.deleted_at IS NULL AND t.state NOT IN ('completed', 'failed', 'cancelled')
       AND (t.profile_id = $1 OR EXISTS (SELECT 1 FROM session s WHERE s.task_id = t.id AND s.profile_id = $1
         AND s.state NOT IN ('completed', 'failed', 'cancelled')))`,
    [profileId],
  );
  return row?.count ?? 0;
}
