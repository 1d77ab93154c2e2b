import type { RuntimeKind } from '@echelon/domain';
import type { Database, Tx } from './database.js';
import type { AgentProfile } from './generated/client.js';
import { type Keyset, NEWEST_FIRST, olderThan, type PageOf } from './keyset.js';
import type { ProfileRow } from './rows.js';

/** Every turn begins with it, so it takes no detour. */
export async function findProfile(tx: Tx, id: string): Promise<ProfileRow | null> {
  const [row] = await tx.query<ProfileRow>('SELECT * FROM agent_profile WHERE id = $1', [id]);
  return row ?? null;
}

/** Profiles that are not archived, from new to old; of one workspace where given. */
export async function listProfiles(database: Database, page: PageOf<Keyset>, workspaceId: string | null): Promise<readonly ProfileRow[]> {
  const profiles = await database.prisma.agentProfile.findMany({
    where: { archived_at: null, ...(workspaceId ? { workspace_id: workspaceId } : {}), AND: olderThan(page.after) },
    orderBy: NEWEST_FIRST,
    take: page.take,
  });
  return profiles.map(toRow);
}

/** The check constraint and the writers of the table keep these columns in their unions. */
function toRow(profile: AgentProfile): ProfileRow {
  return {
    ...profile,
    runtime: profile.runtime as RuntimeKind,
    command: profile.command as string[] | null,
    fallback_models: profile.fallback_models as string[],
    budgets: profile.budgets as ProfileRow['budgets'],
    hooks: profile.hooks as object,
  };
}
