import type { Database } from './database.js';
import { type Keyset, NEWEST_FIRST, olderThan, type PageOf } from './keyset.js';
import type { TokenRow } from './rows.js';

const LISTED = {
  id: true,
  kind: true,
  label: true,
  operator_id: true,
  workspace_id: true,
  session_id: true,
  created_at: true,
  expires_at: true,
  revoked_at: true,
  last_used_at: true,
} as const;

/** Tokens from new to old, revoked ones too; never with their hashes. */
export async function listTokens(database: Database, page: PageOf<Keyset>): Promise<readonly TokenRow[]> {
  const tokens = await database.prisma.apiToken.findMany({
    where: { AND: olderThan(page.after) },
    orderBy: NEWEST_FIRST,
    take: page.take,
    select: LISTED,
  });
  return tokens as TokenRow[];
}
