/** A subagent's thread: its rows stand in its agent's session, and its id is that of the call that started it (agent-loop.md §7). */
import type { Tx } from '../database.js';

/** Which thread's rows: those of a subagent, or of the session itself. */
export type ThreadId = string | null;

/** How the unique index `tool_call_once` writes the session's own thread. */
const OWN = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** Rows of `tool_call` that belong to the thread whose id the parameter holds. */
export function inThread(parameter: `$${number}`): string {
  return `coalesce(thread_id, ${OWN}) = coalesce(${parameter}::uuid, ${OWN})`;
}

/** The thread that a call of a thread starts. */
export async function findThread(
  tx: Tx,
  { sessionId, threadId, callId }: { readonly sessionId: string; readonly threadId: ThreadId; readonly callId: string },
): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(`SELECT id FROM tool_call WHERE session_id = $1 AND ${inThread('$2')} AND call_id = $3`, [
    sessionId,
    threadId,
    callId,
  ]);
  return row?.id ?? null;
}

/** Input and output tokens of all subagents of a turn. */
export async function sumThreadTokens(tx: Tx, turnId: string): Promise<number> {
  const [row] = await tx.query<{ tokens: number }>(
    `SELECT coalesce(sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)), 0)::int AS tokens FROM model_request
     WHERE turn_id = $1 AND thread_id IS NOT NULL`,
    [turnId],
  );
  return row?.tokens ?? 0;
}

export interface ThreadMessage {
  /** The call of the agent's own thread below which this was said. */
  readonly call_id: string;
  /** 0: by the subagent itself; above, by its own subagents. */
  readonly depth: number;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
}

/** What was said last in the threads below each of these calls of an agent, at most `take` messages a call, in order. */
export function listThreadMessages(
  tx: Tx,
  { turnId, callIds, take }: { readonly turnId: string; readonly callIds: readonly string[]; readonly take: number },
): Promise<readonly ThreadMessage[]> {
  return tx.query<ThreadMessage>(
    `WITH RECURSIVE thread AS (
       SELECT id, call_id, 0 AS depth FROM tool_call WHERE turn_id = $1 AND thread_id IS NULL AND call_id = ANY($2)
       UNION ALL SELECT c.id, thread.call_id, thread.depth + 1 FROM tool_call c JOIN thread ON c.thread_id = thread.id WHERE c.turn_id = $1),
     said AS (SELECT thread.call_id, thread.depth, m.role, m.content, m.sequence, row_number() OVER (PARTITION BY thread.call_id ORDER BY m.sequence DESC) AS age
       FROM thread JOIN message m ON m.thread_id = thread.id AND m.turn_id = $1)
     SELECT call_id, depth, role, content FROM said WHERE age <= $3 ORDER BY sequence`,
    [turnId, callIds, take],
  );
}
