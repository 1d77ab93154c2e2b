import type { Database } from './database.js';
import { type Keyset, NEWEST_FIRST, olderThan, type PageOf } from './keyset.js';
import type { WorkspaceRow } from './rows.js';

export function findWorkspace(database: Database, id: string): Promise<WorkspaceRow | null> {
  return database.prisma.workspace.findUnique({ where: { id } });
}

/** Workspaces from new to old; only the one with `id` where given. */
export function listWorkspaces(database: Database, page: PageOf<Keyset>, id: string | null): Promise<readonly WorkspaceRow[]> {
  return database.prisma.workspace.findMany({
    where: { ...(id ? { id } : {}), AND: olderThan(page.after) },
    orderBy: NEWEST_FIRST,
    take: page.take,
  });
}
