/**
 * The loop's journal on Postgres (agent-loop.md §7). Messages, requests and calls *are* the journal.
 *
 * J1  Every barrier is one transaction under the fence: after a takeover nothing is written (K4).
 * J2  Within a barrier: response, results, messages, then the request.
 * J3  What a turn was derived as is stored with its first request, which is what it is kept for.
 * J4  A call has one result; a later text for the same call replaces the first (the batch's budget shortened it).
 */
import type {
  BarrierReply,
  CallsBarrier,
  CompactionBarrier,
  Journal,
  ModelMessage,
  PrepareReply,
  RequestBarrier,
  SealedResponse,
  SettledCall,
  ToolResultPart,
  Unrecorded,
} from '@echelon/agent-loop';
import { canonicalText } from '@echelon/domain';
import {
  findReplacedRows,
  insertMessage,
  insertToolCalls,
  markIntents,
  newId,
  passFence,
  replaceResult,
  sealModelRequest,
  sendModelRequest,
  settleToolCall,
  storeCallProcess,
  storeSummaryRequest,
} from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { serializeParts } from './message-content.js';
import type { Transactions, Unit } from './unit-of-work.js';

export class TurnJournal implements Journal {
  /** `keepContract` stores what the turn was derived as; absent where that is stored already. */
  constructor(
    private readonly transactions: Transactions,
    private readonly claimed: Pick<ClaimedTurn, 'lease' | 'session' | 'turn'>,
    private keepContract: ((unit: Unit) => void) | null = null,
  ) {}

  async prepareRequest(barrier: RequestBarrier): Promise<PrepareReply> {
    const reply = await this.#pass<{ readonly status: 'committed'; readonly input: readonly ModelMessage[] }>(
      async (unit) => {
        this.keepContract?.(unit);
        await this.record(unit, barrier);
        sendModelRequest(unit, { id: newId(), ...this.#ids, round: barrier.round, model: barrier.model });
        return { status: 'committed', input: [] };
      },
      barrier.response !== null || barrier.results.length > 0,
    );
    if (reply.status === 'committed') this.keepContract = null;
    return reply;
  }

  sealResponse(response: SealedResponse, intents: readonly string[]): Promise<BarrierReply> {
    return this.#pass<{ readonly status: 'committed'; readonly leadPending: boolean }>(async (unit) => {
      await this.#recordResponse(unit, response);
      markIntents(unit, this.claimed.session.id, intents);
      return { status: 'committed', leadPending: false };
    }, true);
  }

  recordCalls({ results, intents }: CallsBarrier): Promise<BarrierReply> {
    return this.#pass<{ readonly status: 'committed'; readonly leadPending: boolean }>(async (unit) => {
      await this.#recordResults(unit, results);
      markIntents(unit, this.claimed.session.id, intents);
      return { status: 'committed', leadPending: false };
    }, results.length > 0);
  }

  /** The rows that the summary stands in for are known by their sequence; a summary's request has no barrier of its own. */
  compact(barrier: CompactionBarrier): Promise<BarrierReply> {
    return this.#pass<{ readonly status: 'committed'; readonly leadPending: boolean }>(async (unit) => {
      await this.record(unit, barrier);
      const { summary, kept, model, usage, counters } = barrier;
      const replaced = await findReplacedRows(unit, { ...this.#ids, kept });
      await this.#append(unit, 'compaction', summary, replaced);
      storeSummaryRequest(unit, { ...this.#ids, round: counters.rounds + 1, model, through: replaced.through, usage, counters });
      return { status: 'committed', leadPending: false };
    }, true);
  }

  /** Stores the process of a command before it begins; throws when the lease is lost or the turn is to stop, and then nothing may run (K21). */
  async recordProcess(callId: string, process: object): Promise<void> {
    const reply = await this.#pass(async (unit) => {
      await storeCallProcess(unit, this.claimed.session.id, callId, process);
      return { status: 'committed' } as const;
    }, false);
    if (reply.status !== 'committed') throw new Error(`the turn is ${reply.status}`);
  }

  /** Stores what no barrier has stored; settlement calls it in its own transaction (barrier 5). */
  async record(unit: Unit, { response, results, messages }: Unrecorded): Promise<void> {
    if (response) await this.#recordResponse(unit, response);
    await this.#recordResults(unit, results);
    for (const message of messages) await this.#append(unit, 'continuation', message);
  }

  get #ids(): { sessionId: string; turnId: string } {
    return { sessionId: this.claimed.session.id, turnId: this.claimed.turn.id };
  }

  async #pass<Committed extends { readonly status: 'committed' }>(
    write: (unit: Unit) => Promise<Committed>,
    progress: boolean,
  ): Promise<Committed | { readonly status: 'lost' } | { readonly status: 'stopped' }> {
    return this.transactions.run(async (unit) => {
      const fence = await passFence(unit, this.claimed.lease, this.claimed.turn.id, progress);
      return fence === 'held' ? write(unit) : { status: fence };
    });
  }

  async #recordResponse(unit: Unit, response: SealedResponse): Promise<void> {
    const { round, reason, rawReason, usage, counters, complete, model, message } = response;
    const appended = message && this.#append(unit, 'response', message, { round, model, complete, finish_reason: reason });
    insertToolCalls(
      unit,
      { ...this.#ids, round },
      response.calls.map((call) => ({ ...call, id: newId(), arguments: canonicalText(call.arguments) })),
    );
    sealModelRequest(unit, { turnId: this.claimed.turn.id, round, reason, rawReason, usage, counters });
    await appended;
  }

  async #recordResults(unit: Unit, results: readonly SettledCall[]): Promise<void> {
    const canonical = results.map((result) => ({ ...result, text: canonicalText(result.text) }));
    const first = await Promise.all(canonical.map((result) => this.#settle(unit, result)));
    await Promise.all(
      canonical.map((result, index) => (first[index] ? this.#appendResult(unit, result) : this.#replaceResult(unit, result))),
    );
  }

  #settle(unit: Unit, result: SettledCall): Promise<boolean> {
    const { callId, text, isError } = result;
    return settleToolCall(unit, this.claimed.session.id, { callId, state: stateOf(result), text, isError });
  }

  #appendResult(unit: Unit, result: SettledCall): Promise<void> {
    const metadata = { call_id: result.callId, status: result.status, ends_turn: result.endsTurn };
    return this.#append(unit, 'tool_result', { role: 'tool', parts: [toPart(result)] }, metadata);
  }

  #replaceResult(unit: Unit, result: SettledCall): Promise<void> {
    const { callId, text } = result;
    return replaceResult(unit, this.claimed.session.id, { callId, text, content: serializeParts([toPart(result)]) });
  }

  async #append(unit: Unit, type: string, message: ModelMessage, metadata: object = {}): Promise<void> {
    const { session } = this.claimed;
    const row = await insertMessage(unit, { ...this.#ids, type, role: message.role, content: serializeParts(message.parts), metadata });
    await unit.tell({
      workspaceId: session.workspace_id,
      type: 'message.added',
      taskId: session.task_id,
      sessionId: session.id,
      data: { message_id: row.id, sequence: row.sequence, type, role: row.role, turn_id: row.turn_id },
    });
  }
}

function toPart({ callId, name, text, isError }: SettledCall): ToolResultPart {
  return { type: 'tool_result', call_id: callId, name, text, is_error: isError };
}

function stateOf({ status }: SettledCall): 'done' | 'unknown' | 'not_executed' {
  switch (status) {
    case 'succeeded':
    case 'failed':
      return 'done';
    case 'unknown':
    case 'cancelled':
      return 'unknown';
    case 'invalid':
    case 'denied':
    case 'superseded':
    case 'duplicate':
    case 'replay':
    case 'not_executed':
      return 'not_executed';
  }
}
