/**
 * The loop's journal on Postgres (agent-loop.md §7). Messages, requests and calls *are* the journal.
 *
 * J1  Every barrier is one transaction under the fence: after a takeover nothing is written (K4).
 * J2  Within a barrier: response, results, messages, then the request.
 * J3  A call has one result; a later text for the same call replaces the first (the batch's budget shortened it).
 */
import type {
  BarrierReply,
  CallsBarrier,
  Journal,
  ModelMessage,
  PrepareReply,
  RequestBarrier,
  SealedResponse,
  SettledCall,
  Unrecorded,
} from '@echelon/agent-loop';
import { canonicalText } from '@echelon/domain';
import {
  insertMessage,
  insertModelRequest,
  insertToolCalls,
  markIntents,
  newId,
  passFence,
  replaceResult,
  sealModelRequest,
  settleToolCall,
} from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { serializeParts } from './message-content.js';
import type { Transactions, Unit } from './unit-of-work.js';

export class TurnJournal implements Journal {
  constructor(
    private readonly transactions: Transactions,
    private readonly claimed: Pick<ClaimedTurn, 'lease' | 'session' | 'turn'>,
  ) {}

  prepareRequest(barrier: RequestBarrier): Promise<PrepareReply> {
    return this.#pass<{ readonly status: 'committed'; readonly input: readonly ModelMessage[] }>(async (unit) => {
      await this.record(unit, barrier);
      await insertModelRequest(unit, { id: newId(), ...this.#ids, round: barrier.round, model: barrier.model });
      return { status: 'committed', input: [] };
    });
  }

  sealResponse(response: SealedResponse, intents: readonly string[]): Promise<BarrierReply> {
    return this.#pass<{ readonly status: 'committed'; readonly leadPending: boolean }>(async (unit) => {
      await this.#recordResponse(unit, response);
      await markIntents(unit, this.claimed.session.id, intents);
      return { status: 'committed', leadPending: false };
    });
  }

  recordCalls({ results, intents }: CallsBarrier): Promise<BarrierReply> {
    return this.#pass<{ readonly status: 'committed'; readonly leadPending: boolean }>(async (unit) => {
      for (const result of results) await this.#recordResult(unit, result);
      await markIntents(unit, this.claimed.session.id, intents);
      return { status: 'committed', leadPending: false };
    });
  }

  /** Stores what no barrier has stored; settlement calls it in its own transaction (barrier 5). */
  async record(unit: Unit, { response, results, messages }: Unrecorded): Promise<void> {
    if (response) await this.#recordResponse(unit, response);
    for (const result of results) await this.#recordResult(unit, result);
    for (const message of messages) await this.#append(unit, 'continuation', message);
  }

  get #ids(): { sessionId: string; turnId: string } {
    return { sessionId: this.claimed.session.id, turnId: this.claimed.turn.id };
  }

  async #pass<Committed extends { readonly status: 'committed' }>(
    write: (unit: Unit) => Promise<Committed>,
  ): Promise<Committed | { readonly status: 'lost' } | { readonly status: 'stopped' }> {
    return this.transactions.run(async (unit) => {
      const fence = await passFence(unit, this.claimed.lease, this.claimed.turn.id);
      return fence === 'held' ? write(unit) : { status: fence };
    });
  }

  async #recordResponse(unit: Unit, response: SealedResponse): Promise<void> {
    const { round, reason, rawReason, usage, counters, complete, model } = response;
    if (response.message) await this.#append(unit, 'response', response.message, { round, model, complete, finish_reason: reason });
    await insertToolCalls(
      unit,
      { ...this.#ids, round },
      response.calls.map((call) => ({ ...call, id: newId(), arguments: canonicalText(call.arguments) })),
    );
    await sealModelRequest(unit, { turnId: this.claimed.turn.id, round, reason, rawReason, usage, counters });
  }

  async #recordResult(unit: Unit, result: SettledCall): Promise<void> {
    const text = canonicalText(result.text);
    const settled = await settleToolCall(unit, this.claimed.session.id, {
      callId: result.callId,
      state: stateOf(result),
      text,
      isError: result.isError,
    });
    const part = { type: 'tool_result', call_id: result.callId, name: result.name, text, is_error: result.isError } as const;
    if (!settled) return replaceResult(unit, this.claimed.session.id, { callId: result.callId, text, content: serializeParts([part]) });
    const metadata = { call_id: result.callId, status: result.status, ends_turn: result.endsTurn };
    await this.#append(unit, 'tool_result', { role: 'tool', parts: [part] }, metadata);
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
