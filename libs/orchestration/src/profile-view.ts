import type { AgentProfile } from '@echelon/contracts';
import type { ProfileRow } from '@echelon/persistence';

/** A profile as it is shown. */
export function toProfile(row: ProfileRow): AgentProfile {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    runtime: row.runtime,
    command: row.command && [...row.command],
    provider: row.provider,
    model: row.model,
    system_prompt: row.system_prompt,
    max_output_tokens: row.max_output_tokens,
    context_window: row.context_window,
    fallback_models: [...row.fallback_models],
    budgets: row.budgets,
    hooks: row.hooks,
    parent_question_timeout_seconds: row.parent_question_timeout_seconds,
    user_question_timeout_seconds: row.user_question_timeout_seconds,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    archived_at: row.archived_at?.toISOString() ?? null,
  };
}
