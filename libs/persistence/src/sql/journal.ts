/** The statements of the barriers (agent-loop.md §7). Each runs in a transaction that holds the session's row with its epoch (K4). */
import type { OpenTx, Tx } from '../database.js';
import { newId } from '../id.js';
import type { Lease } from './claim-session.js';
import { inThread, type ThreadId } from './thread.js';

/** Whose rows: those of a session's own thread, or of one of its subagents. */
export interface Thread {
  readonly sessionId: string;
  readonly threadId: ThreadId;
}

/** What a barrier finds under the fence: the lease is lost, the turn is to stop, or it may write. */
export type Fence = 'held' | 'lost' | 'stopped';

/**
 * Locks the session with its epoch and reads the turn's stop flag. `progress` marks what a takeover may build on: a stored response or
 * result, not a request that may never be answered (K22).
 */
export async function passFence(tx: Tx, lease: Lease, turnId: string, progress: boolean): Promise<Fence> {
  const [turn] = await tx.query<{ stopped: boolean }>(
    `WITH held AS (SELECT id FROM session WHERE id = $1 AND lease_epoch = $2 AND lease_owner IS NOT NULL FOR NO KEY UPDATE)
     UPDATE turn SET last_barrier_at = CASE WHEN $4 THEN clock_timestamp() ELSE last_barrier_at END FROM held WHERE turn.id = $3 AND turn.session_id = held.id AND turn.status <> 'finished'
     RETURNING turn.stop_requested_at IS NOT NULL AS stopped`,
    [lease.sessionId, lease.epoch, turnId, progress],
  );
  if (!turn) return 'lost';
  return turn.stopped ? 'stopped' : 'held';
}

export interface NewModelRequest extends Thread {
  readonly id: string;
  readonly turnId: string;
  readonly round: number;
  readonly model: string;
}

/** Records a request before it is sent; earlier ones of its thread in the turn without a sealed response are void (K17). */
export function sendModelRequest(tx: OpenTx, request: NewModelRequest): void {
  tx.send(
    `WITH void AS (UPDATE model_request SET state = 'abandoned', settled_at = now() WHERE turn_id = $3 AND state = 'prepared' AND thread_id IS NOT DISTINCT FROM $6::uuid)
     INSERT INTO model_request (id, session_id, turn_id, thread_id, round, state, model, through_sequence)
     SELECT $1, $2, $3, $6, $4, 'prepared', $5, next_sequence - 1 FROM session WHERE id = $2`,
    [request.id, request.sessionId, request.turnId, request.round, request.model, request.threadId],
  );
}

export interface SealedRequest {
  readonly turnId: string;
  readonly threadId: ThreadId;
  readonly round: number;
  readonly reason: string;
  readonly rawReason: string | null;
  readonly usage: {
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
    readonly cachedInputTokens: number | null;
    readonly reasoningTokens: number | null;
  };
  readonly counters: object;
}

/** What a turn keeps of its last round, unless a subagent ($10) made it. */
const OF_OWN_THREAD = Object.entries({
  finish_reason: '$3',
  raw_finish_reason: '$4',
  rounds: 'greatest(rounds, $2)',
  counters: '$9',
})
  .map(([column, value]) => `${column} = CASE WHEN $10::uuid IS NULL THEN ${value} ELSE ${column} END`)
  .join(', ');

/** Seals the round's request with how it finished, and adds its tokens to the turn; of a subagent's round the turn keeps nothing else. */
export function sealModelRequest(tx: OpenTx, sealed: SealedRequest): void {
  const { usage } = sealed;
  tx.send(
    `WITH request AS (UPDATE model_request SET state = 'sealed', finish_reason = $3, raw_finish_reason = $4, input_tokens = $5, output_tokens = $6,
       cached_tokens = $7, reasoning_tokens = $8, settled_at = now() WHERE turn_id = $1 AND round = $2 AND state = 'prepared' AND thread_id IS NOT DISTINCT FROM $10::uuid)
     UPDATE turn SET ${OF_OWN_THREAD}, input_tokens = input_tokens + coalesce($5::int, 0), output_tokens = output_tokens + coalesce($6::int, 0) WHERE id = $1`,
    [
      sealed.turnId,
      sealed.round,
      sealed.reason,
      sealed.rawReason,
      usage.inputTokens,
      usage.outputTokens,
      usage.cachedInputTokens,
      usage.reasoningTokens,
      JSON.stringify(sealed.counters),
      sealed.threadId,
    ],
  );
}

export interface NewToolCall {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly effect: string;
}

/** Records the calls of a sealed response; those among `intents` are about to run. */
export function insertToolCalls(
  tx: OpenTx,
  of: Thread & { readonly turnId: string; readonly round: number },
  calls: readonly NewToolCall[],
): void {
  if (calls.length === 0) return;
  tx.send(
    `INSERT INTO tool_call (id, session_id, turn_id, thread_id, round, index, call_id, name, arguments, effect, state)
     SELECT c.id::uuid, $1, $2, $10, $3, c.index, c.call_id, c.name, c.arguments, c.effect, 'requested'
     FROM unnest($4::text[], $5::int[], $6::text[], $7::text[], $8::text[], $9::text[]) AS c(id, index, call_id, name, arguments, effect)`,
    [
      of.sessionId,
      of.turnId,
      of.round,
      calls.map((call) => call.id),
      calls.map((_call, index) => index),
      calls.map((call) => call.callId),
      calls.map((call) => call.name),
      calls.map((call) => call.arguments),
      calls.map((call) => call.effect),
      of.threadId,
    ],
  );
}

/** Marks calls as about to run (barrier 3). */
export function markIntents(tx: OpenTx, { sessionId, threadId }: Thread, callIds: readonly string[]): void {
  if (callIds.length === 0) return;
  tx.send(
    `UPDATE tool_call SET state = 'intent', intent_at = clock_timestamp()
     WHERE session_id = $1 AND ${inThread('$3')} AND call_id = ANY($2) AND state = 'requested'`,
    [sessionId, callIds, threadId],
  );
}

export interface CallResult {
  readonly callId: string;
  readonly state: 'done' | 'unknown' | 'not_executed';
  readonly text: string;
  readonly isError: boolean;
}

/** Settles a call; `false` when it was settled before. */
export async function settleToolCall(tx: Tx, { sessionId, threadId }: Thread, result: CallResult): Promise<boolean> {
  const rows = await tx.query<{ id: string }>(
    `UPDATE tool_call SET state = $3, result = $4, is_error = $5, settled_at = clock_timestamp()
     WHERE session_id = $1 AND ${inThread('$6')} AND call_id = $2 AND state IN ('requested', 'intent') RETURNING id`,
    [sessionId, result.callId, result.state, result.text, result.isError, threadId],
  );
  return rows.length > 0;
}

export interface StoredCall {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly effect: string;
  readonly round: number;
  readonly index: number;
  readonly state: 'requested' | 'intent' | 'done' | 'unknown' | 'not_executed';
  readonly result: string | null;
  readonly is_error: boolean | null;
}

/** Calls of one turn in the order in which the model made them. */
export function listToolCalls(tx: Tx, turnId: string): Promise<readonly StoredCall[]> {
  return tx.query<StoredCall>(
    `SELECT call_id, name, arguments, effect, round, index, state, result, is_error FROM tool_call WHERE turn_id = $1 AND thread_id IS NULL ORDER BY round, index`,
    [turnId],
  );
}

/** Stores the full text of a result that was shortened for the model, once per call; returns its id. */
export async function upsertArtifact(
  tx: Tx,
  artifact: { readonly sessionId: string; readonly turnId: string; readonly callId: string; readonly content: string },
): Promise<string> {
  const [row] = await tx.query<{ id: string }>(
    `INSERT INTO artifact (id, session_id, turn_id, call_id, content) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (session_id, call_id) DO UPDATE SET content = artifact.content RETURNING id`,
    [newId(), artifact.sessionId, artifact.turnId, artifact.callId, artifact.content],
  );
  if (!row) throw new Error('an artifact was not stored');
  return row.id;
}

/** What a turn was derived as (autopilot-contract.md §3); the tool list stands once for all turns that share it. */
export interface StoredContract {
  readonly systemPrompt: string;
  readonly contract: object;
  readonly toolsHash: Buffer;
  /** JSON text, exactly as it is sent. */
  readonly specifications: string;
}

/** Keeps what the turn was derived as, so that a resumed turn sends the same bytes; the first derivation stays. */
export function storeContract(tx: OpenTx, turnId: string, stored: StoredContract): void {
  tx.send(
    `WITH tools AS (INSERT INTO tool_list (hash, specifications) VALUES ($4, $5) ON CONFLICT DO NOTHING)
     UPDATE turn SET system_prompt = $2, contract = $3 WHERE id = $1 AND system_prompt IS NULL`,
    [turnId, stored.systemPrompt, JSON.stringify(stored.contract), stored.toolsHash, stored.specifications],
  );
}

/** The tool list of a hash, as it was sent. */
export async function findToolList(tx: Tx, hash: Buffer): Promise<string | null> {
  const [row] = await tx.query<{ specifications: string }>('SELECT specifications FROM tool_list WHERE hash = $1', [hash]);
  return row?.specifications ?? null;
}

/** Process group, host and start time of a command that runs (K21). */
export async function storeCallProcess(tx: Tx, { sessionId, threadId }: Thread, callId: string, process: object): Promise<void> {
  await tx.query(`UPDATE tool_call SET process = $3 WHERE session_id = $1 AND ${inThread('$4')} AND call_id = $2`, [
    sessionId,
    callId,
    JSON.stringify(process),
    threadId,
  ]);
}

/** Commands of a turn that were started and whose end is not known (K21), each by the call of the agent's own thread below which it runs. */
export async function listUnsettledProcesses(
  tx: Tx,
  turnId: string,
): Promise<readonly { readonly call_id: string; readonly process: object }[]> {
  return tx.query(
    `WITH RECURSIVE begun AS (
       SELECT id, call_id, process FROM tool_call WHERE turn_id = $1 AND thread_id IS NULL AND state = 'intent'
       UNION ALL SELECT c.id, begun.call_id, c.process FROM tool_call c JOIN begun ON c.thread_id = begun.id WHERE c.turn_id = $1 AND c.state = 'intent')
     SELECT call_id, process FROM begun WHERE process IS NOT NULL`,
    [turnId],
  );
}

/** Replaces what a settled call's result says: a batch over its budget shortens results that were stored before. */
export async function replaceResult(
  tx: Tx,
  { sessionId, threadId }: Thread,
  result: { readonly callId: string; readonly text: string; readonly content: string },
): Promise<void> {
  await tx.query(
    `WITH shortened AS (UPDATE tool_call SET result = $3 WHERE session_id = $1 AND ${inThread('$5')} AND call_id = $2)
     UPDATE message SET content = $4 WHERE session_id = $1 AND thread_id IS NOT DISTINCT FROM $5::uuid AND type = 'tool_result' AND metadata->>'call_id' = $2`,
    [sessionId, result.callId, result.text, result.content, threadId],
  );
}
