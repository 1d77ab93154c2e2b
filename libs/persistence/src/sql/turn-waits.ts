/** What an unfinished turn leaves when it is closed from outside: waits, calls and requests that nobody will finish. */
import type { OpenTx, Tx } from '../database.js';
import { NOW_AS_JSON } from './now-as-json.js';
import type { ThreadId } from './thread.js';

const NOT_EXECUTED = 'Not executed: the turn was stopped.';
const UNKNOWN = 'Unknown: the turn was stopped while this ran. Inspect before retrying.';

/** Cancels the approvals and operator questions that the turn waits for; a later decision finds them decided. */
export async function cancelTurnWaits(tx: OpenTx, turnId: string): Promise<void> {
  tx.send(
    `WITH approvals AS (UPDATE approval SET state = 'cancelled', decided_at = now() WHERE turn_id = $1 AND state = 'pending')
     UPDATE message SET metadata = metadata || jsonb_build_object('status', 'cancelled', 'ended_at',
       ${NOW_AS_JSON})
     WHERE turn_id = $1 AND type = 'user_question' AND metadata->>'status' = 'pending'`,
    [turnId],
  );
}

/** A call that was settled here; its result is still to be told to the conversation, or to the subagent's thread, that made it. */
export interface SettledTurnCall {
  readonly thread_id: ThreadId;
  readonly call_id: string;
  readonly name: string;
  readonly effect: string;
  readonly state: 'unknown' | 'not_executed';
  readonly result: string;
}

/** Settles calls and requests of a turn that has no runner any more: what had begun is unknown, the rest was not executed (T2, K17). */
export function settleTurnCalls(tx: Tx, turnId: string): Promise<readonly SettledTurnCall[]> {
  return tx.query<SettledTurnCall>(
    `WITH requests AS (UPDATE model_request SET state = 'abandoned', settled_at = now() WHERE turn_id = $1 AND state = 'prepared'),
     settled AS (UPDATE tool_call SET state = CASE state WHEN 'intent' THEN 'unknown' ELSE 'not_executed' END,
         result = CASE state WHEN 'intent' THEN $3 ELSE $2 END, is_error = true, settled_at = now()
       WHERE turn_id = $1 AND state IN ('requested', 'intent') RETURNING *)
     SELECT thread_id, call_id, name, effect, state, result FROM settled ORDER BY thread_id NULLS FIRST, round, "index"`,
    [turnId, NOT_EXECUTED, UNKNOWN],
  );
}

/** Cancels operator questions of a session that belong to no turn. */
export async function cancelSessionQuestions(tx: Tx, sessionId: string): Promise<void> {
  await tx.query(
    `UPDATE message SET metadata = metadata || jsonb_build_object('status', 'cancelled', 'ended_at',
       ${NOW_AS_JSON})
     WHERE session_id = $1 AND type = 'user_question' AND metadata->>'status' = 'pending'`,
    [sessionId],
  );
}
