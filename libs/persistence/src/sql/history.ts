/**
 * What of a session's conversation a model may see, in order, and how a compaction shortens that (agent-loop.md §7).
 *
 * H1  Rows are never deleted: a compaction is a message of its own that says which rows it stands in for. The last one holds.
 * H2  The history is then its summary, the rows among them that it kept word for word, and the rows after them.
 */
import type { OpenTx, Tx } from '../database.js';
import { newId } from '../id.js';
import type { ThreadId } from './thread.js';

export interface HistoryRow {
  readonly id: string;
  readonly sequence: number;
  readonly turn_id: string | null;
  readonly type: string;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What a compaction's message says of the rows that it stands in for; stored as the message's metadata. */
export interface ReplacedRows {
  /** Sequence of the last of them. */
  readonly through: number;
  /** Sequences of those among them that still stand word for word: the turn's opening and its Leads (L19). */
  readonly kept: readonly number[];
}

const COLUMNS = 'id, sequence, turn_id, type, role, content, metadata';

/** Rows of the session's main thread that are for models; partial text is for people only. */
const FOR_MODELS = `session_id = $1 AND thread_id IS NULL AND NOT hidden
  AND type IN ('prompt', 'response', 'tool_result', 'continuation', 'lead') AND coalesce(metadata->>'complete', 'true') = 'true'`;

/** The history of a session's main thread; a summary comes first. */
export function listHistory(tx: Tx, sessionId: string): Promise<readonly HistoryRow[]> {
  return tx.query<HistoryRow>(
    `WITH last AS MATERIALIZED (SELECT ${COLUMNS}, (metadata->>'through')::int AS through,
         ARRAY(SELECT jsonb_array_elements_text(metadata->'kept')::int) AS kept
       FROM message WHERE session_id = $1 AND thread_id IS NULL AND type = 'compaction' ORDER BY sequence DESC LIMIT 1)
     SELECT ${COLUMNS} FROM (
       SELECT ${COLUMNS}, 0 AS place FROM last
       UNION ALL
       SELECT ${COLUMNS}, 1 FROM message WHERE ${FOR_MODELS} AND sequence = ANY((SELECT kept FROM last)::int[])
       UNION ALL
       SELECT ${COLUMNS}, 1 FROM message WHERE ${FOR_MODELS} AND sequence > coalesce((SELECT through FROM last), 0)) AS seen
     ORDER BY place, sequence`,
    [sessionId],
  );
}

/** Takes the prompts of a turn out of what models see, unless a request has carried them: operators still see them. */
export function hideUnsentPrompts(tx: OpenTx, turnId: string): void {
  tx.send(
    `UPDATE message SET hidden = true WHERE turn_id = $1 AND type = 'prompt'
       AND NOT EXISTS (SELECT 1 FROM model_request WHERE turn_id = $1)`,
    [turnId],
  );
}

/** The responses of the session's main thread up to a sequence that made calls. */
export function listCallingResponses(tx: Tx, sessionId: string, through: number): Promise<readonly HistoryRow[]> {
  return tx.query<HistoryRow>(
    `SELECT ${COLUMNS} FROM message m WHERE ${FOR_MODELS} AND type = 'response' AND sequence <= $2
       AND EXISTS (SELECT 1 FROM tool_call c WHERE c.session_id = m.session_id AND c.turn_id = m.turn_id AND c.thread_id IS NULL AND c.round = (m.metadata->>'round')::int)
     ORDER BY sequence`,
    [sessionId, through],
  );
}

/** What a compaction that leaves the last `kept` messages, those of results not counted, stands in for. */
export async function findReplacedRows(
  tx: Tx,
  { sessionId, turnId, kept }: { readonly sessionId: string; readonly turnId: string; readonly kept: number },
): Promise<ReplacedRows> {
  const [found] = await tx.query<ReplacedRows>(
    `WITH stays AS (SELECT sequence FROM message WHERE ${FOR_MODELS} AND role <> 'tool' ORDER BY sequence DESC LIMIT $3),
     replaced AS (SELECT coalesce((SELECT min(sequence) FROM stays), next_sequence) - 1 AS through FROM session WHERE id = $1)
     SELECT through, ARRAY(SELECT sequence FROM message WHERE ${FOR_MODELS} AND turn_id = $2 AND type IN ('prompt', 'lead')
       AND sequence <= through ORDER BY sequence) AS kept FROM replaced`,
    [sessionId, turnId, kept],
  );
  if (!found) throw new Error(`session ${sessionId} does not exist`);
  return found;
}

export interface SummaryRequest {
  readonly sessionId: string;
  readonly turnId: string;
  readonly threadId: ThreadId;
  readonly round: number;
  readonly model: string;
  readonly through: number;
  readonly usage: {
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
    readonly cachedInputTokens: number | null;
    readonly reasoningTokens: number | null;
  };
  readonly counters: object;
}

/** Records the request that made a summary, and adds its tokens to the turn. */
export function storeSummaryRequest(tx: OpenTx, { usage, ...request }: SummaryRequest): void {
  tx.send(
    `WITH request AS (INSERT INTO model_request (id, session_id, turn_id, round, state, model, through_sequence, input_tokens, output_tokens,
         cached_tokens, reasoning_tokens, thread_id, settled_at) VALUES ($1, $2, $3, $4, 'sealed', $5, $6, $7, $8, $9, $10, $12, now()))
     UPDATE turn SET counters = CASE WHEN $12::uuid IS NULL THEN $11 ELSE counters END, input_tokens = input_tokens + coalesce($7::int, 0), output_tokens = output_tokens + coalesce($8::int, 0)
     WHERE id = $3`,
    [
      newId(),
      request.sessionId,
      request.turnId,
      request.round,
      request.model,
      request.through,
      usage.inputTokens,
      usage.outputTokens,
      usage.cachedInputTokens,
      usage.reasoningTokens,
      JSON.stringify(request.counters),
      request.threadId,
    ],
  );
}
