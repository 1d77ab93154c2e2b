/**
 * The loop's journal on Postgres (agent-loop.md §7). Messages, requests and calls *are* the journal.
 *
 * J1  Every barrier is one transaction under the fence: after a takeover nothing is written (K4).
 * J2  Within a barrier: response, results, messages, then the request.
 * J3  What a turn was derived as is stored with its first request, which is what it is kept for.
 * J4  A subagent's rows stand in the same session and turn, under the same lease, in a thread of their own; their turn keeps its tokens.
 * J5  A call has one result; a later text for the same call replaces the first (the batch's budget shortened it).
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
  findThread,
  insertMessage,
  insertToolCalls,
  markIntents,
  type MessageRow,
  newId,
  passFence,
  replaceResult,
  sealModelRequest,
  sendModelRequest,
  settleToolCall,
  storeCallProcess,
  storeSummaryRequest,
  type ThreadId,
} from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { serializeParts } from './message-content.js';
import type { Transactions, Unit } from './unit-of-work.js';

export class TurnJournal implements Journal {
  /** `keepFirst` stores with the first request what is not stored yet: what the turn was derived as, or the prompt of a subagent. */
  constructor(
    private readonly transactions: Transactions,
    private readonly claimed: Pick<ClaimedTurn, 'lease' | 'session' | 'turn'>,
    private keepFirst: ((unit: Unit) => unknown) | null = null,
    /** Of a subagent. */
    readonly threadId: ThreadId = null,
  ) {}

  /** The journal of the subagent that a call of this thread starts. */
  async openThread(call: { readonly callId: string; readonly description: string; readonly prompt: string }): Promise<TurnJournal> {
    const threadId = await this.transactions.run((unit) => findThread(unit, { ...this.#ids, callId: call.callId }));
    if (threadId === null) throw new Error(`call ${call.callId} is not recorded`);
    const prompt: ModelMessage = { role: 'user', parts: [{ type: 'text', text: call.prompt }] };
    const keepPrompt = (unit: Unit): Promise<unknown> => thread.#append(unit, 'prompt', prompt, { description: call.description });
    const thread = new TurnJournal(this.transactions, this.claimed, keepPrompt, threadId);
    return thread;
  }

  /** Stores what a subagent's run left unrecorded, also in a turn that is to stop; the fence of its agent's barriers holds here, too. */
  async close(unrecorded: Unrecorded): Promise<void> {
    await this.transactions.run(async (unit) => {
      const fence = await passFence(unit, this.claimed.lease, this.claimed.turn.id, false);
      if (fence !== 'lost') await this.record(unit, unrecorded);
    });
  }

  async prepareRequest(barrier: RequestBarrier): Promise<PrepareReply> {
    const reply = await this.#pass<{ readonly status: 'committed'; readonly input: readonly ModelMessage[] }>(
      async (unit) => {
        await this.keepFirst?.(unit);
        await this.record(unit, barrier);
        sendModelRequest(unit, { id: newId(), ...this.#ids, round: barrier.round, model: barrier.model });
        return { status: 'committed', input: [] };
      },
      barrier.response !== null || barrier.results.length > 0,
    );
    if (reply.status === 'committed') this.keepFirst = null;
    return reply;
  }

  sealResponse(response: SealedResponse, intents: readonly string[]): Promise<BarrierReply> {
    return this.#pass<{ readonly status: 'committed'; readonly leadPending: boolean }>(async (unit) => {
      await this.#recordResponse(unit, response);
      markIntents(unit, this.#ids, intents);
      return { status: 'committed', leadPending: false };
    }, true);
  }

  recordCalls({ results, intents }: CallsBarrier): Promise<BarrierReply> {
    return this.#pass<{ readonly status: 'committed'; readonly leadPending: boolean }>(async (unit) => {
      await this.#recordResults(unit, results);
      markIntents(unit, this.#ids, intents);
      return { status: 'committed', leadPending: false };
    }, results.length > 0);
  }

  /** The rows that the summary stands in for are known by their sequence; a summary's request has no barrier of its own. */
  compact(barrier: CompactionBarrier): Promise<BarrierReply> {
    return this.#pass<{ readonly status: 'committed'; readonly leadPending: boolean }>(async (unit) => {
      await this.record(unit, barrier);
      const { summary, kept, model, usage, counters } = barrier;
      // A thread is never rebuilt from its rows: its summary is for people.
      const replaced = this.threadId === null ? await findReplacedRows(unit, { ...this.#ids, kept }) : null;
      const { sequence } = await this.#append(unit, 'compaction', summary, replaced ?? {});
      const through = replaced?.through ?? sequence - 1;
      storeSummaryRequest(unit, { ...this.#ids, round: counters.rounds + 1, model, through, usage, counters });
      return { status: 'committed', leadPending: false };
    }, true);
  }

  /** Stores the process of a command before it begins; throws when the lease is lost or the turn is to stop, and then nothing may run (K21). */
  async recordProcess(callId: string, process: object): Promise<void> {
    const reply = await this.#pass(async (unit) => {
      await storeCallProcess(unit, this.#ids, callId, process);
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

  get #ids(): { sessionId: string; turnId: string; threadId: ThreadId } {
    return { sessionId: this.claimed.session.id, turnId: this.claimed.turn.id, threadId: this.threadId };
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
    sealModelRequest(unit, { ...this.#ids, round, reason, rawReason, usage, counters });
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
    return settleToolCall(unit, this.#ids, { callId, state: stateOf(result), text, isError });
  }

  #appendResult(unit: Unit, result: SettledCall): Promise<unknown> {
    const metadata = { call_id: result.callId, status: result.status, ends_turn: result.endsTurn };
    return this.#append(unit, 'tool_result', { role: 'tool', parts: [toPart(result)] }, metadata);
  }

  #replaceResult(unit: Unit, result: SettledCall): Promise<void> {
    const { callId, text } = result;
    return replaceResult(unit, this.#ids, { callId, text, content: serializeParts([toPart(result)]) });
  }

  async #append(unit: Unit, type: string, message: ModelMessage, metadata: object = {}): Promise<MessageRow> {
    const { session } = this.claimed;
    const row = await insertMessage(unit, { ...this.#ids, type, role: message.role, content: serializeParts(message.parts), metadata });
    await unit.tell({
      workspaceId: session.workspace_id,
      type: 'message.added',
      taskId: session.task_id,
      sessionId: session.id,
      data: { message_id: row.id, sequence: row.sequence, type, role: row.role, turn_id: row.turn_id, thread_id: row.thread_id },
    });
    return row;
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
