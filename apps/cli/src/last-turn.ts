import type { ApiClient } from '@echelon/api-client';
import type { Task, Turn } from '@echelon/contracts';

const PAGE = 200;

/** How the newest turn of a task's primary session went; `null` where none has begun. */
export async function findLastTurn(api: ApiClient, { primary_session_id: session }: Task): Promise<Turn | null> {
  if (!session) return null;
  let last: Turn | null = null;
  let cursor: string | undefined;
  do {
    const page = await api.sessions.listTurns(session, { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    last = page.items.at(-1) ?? last;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return last;
}

/** On one line, with the reason of a turn that did not complete. */
export function describeTurn({ number, status, outcome, outcome_detail: detail }: Turn): string {
  return `${number}: ${outcome ?? status}${detail === null ? '' : ` (${detail})`}`;
}
